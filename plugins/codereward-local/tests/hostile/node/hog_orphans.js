// expect: ends
const c = require('child_process'); for (let i = 0; i < 5; i++) c.spawn('sleep', ['77'], {detached: true, stdio: 'ignore'}).unref();
