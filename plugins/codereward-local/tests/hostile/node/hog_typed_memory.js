// expect: memory_bytes
const kept = []; for (;;) kept.push(Buffer.alloc(5e6, 1));
