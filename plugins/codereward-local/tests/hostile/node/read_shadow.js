// expect: contained
attempt('shadow', () => fs.readFileSync('/etc/shadow'));
