// expect: contained
if (require('child_process').spawnSync('mount', ['-t', 'tmpfs', 'x', '/tmp']).status === 0) won('mount');
