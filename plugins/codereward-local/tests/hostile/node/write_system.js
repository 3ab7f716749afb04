// expect: contained
for (const d of ['/', '/usr', '/etc', '/dev', '/proc']) attempt(d, () => fs.writeFileSync(d + '/hostile', ''));
