// expect: contained
require('dns').lookup('example.test', (e) => { if (!e) won('dns'); });
