// expect: output_bytes
for (;;) console.log('x'.repeat(1e4));
