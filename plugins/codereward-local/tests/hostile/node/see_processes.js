// expect: contained
if (fs.readdirSync('/proc').filter((n) => /^\d+$/.test(n)).length > 2) won('processes');
