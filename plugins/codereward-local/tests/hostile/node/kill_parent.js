// expect: contained
try { process.kill(process.ppid, 'SIGKILL'); } catch {}
