// expect: contained
const s = require('net').connect(Number(process.argv[3]), '127.0.0.1');
s.on('connect', () => { won('host'); s.destroy(); }); s.on('error', () => {});
