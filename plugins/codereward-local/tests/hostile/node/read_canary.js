// expect: contained
attempt('canary', () => fs.readFileSync(process.argv[2]));
