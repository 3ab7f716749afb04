// expect: contained
fs.symlinkSync('/etc/passwd', process.env.CODEREWARD_RESULT);
