// expect: contained
attempt('inspector', () => { const i = require('inspector'); i.open(0); if (!i.url()) throw 0; });
