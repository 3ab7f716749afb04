// expect: contained
attempt('setuid', () => process.setuid(0)); attempt('setgid', () => process.setgid(0));
