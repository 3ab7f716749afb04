// expect: wall_seconds
setInterval(() => {}, 10);
