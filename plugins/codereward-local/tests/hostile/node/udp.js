// expect: contained
const d = require('dgram').createSocket('udp4'); d.on('error', () => {}); d.bind(0, () => { won('udp'); d.close(); });
