// expect: bounded
const c = require('child_process'); for (;;) { try { c.spawn('sleep', ['99']); } catch {} }
