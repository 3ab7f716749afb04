// expect: disk_bytes
for (;;) fs.appendFileSync('f', 'x'.repeat(1e6));
