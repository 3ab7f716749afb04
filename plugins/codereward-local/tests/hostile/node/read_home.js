// expect: contained
for (const h of ['/root/.ssh', '/root/.bashrc', '/home']) attempt(h, () => fs.statSync(h));
