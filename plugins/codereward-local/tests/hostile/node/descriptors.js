// expect: contained
for (let fd = 40; fd < 200; fd++) attempt('fd ' + fd, () => fs.fstatSync(fd));
