// expect: contained
fetch('http://127.0.0.1:' + process.argv[3]).then(() => won('fetch'), () => {});
