// expect: contained
const s = require('net').createServer(); s.on('error', () => {}); s.listen(0, '127.0.0.1', () => { won('listen'); s.close(); });
