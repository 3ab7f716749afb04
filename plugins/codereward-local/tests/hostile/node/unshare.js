// expect: contained
if (require('child_process').spawnSync('unshare', ['-Ur', 'true']).status === 0) won('unshare');
