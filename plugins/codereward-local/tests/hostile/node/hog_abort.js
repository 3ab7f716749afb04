// expect: ends
process.abort();
