// expect: ends
process.kill(process.pid, 'SIGKILL');
