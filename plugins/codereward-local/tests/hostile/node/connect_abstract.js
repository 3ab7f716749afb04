// expect: contained
const s = require('net').connect({path: '\0' + process.argv[4]});
s.on('connect', () => { won('abstract'); s.destroy(); }); s.on('error', () => {});
