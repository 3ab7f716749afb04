// expect: wall_seconds
process.kill(process.pid, 'SIGSTOP'); setTimeout(() => {}, 99999);
