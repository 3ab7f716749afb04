// expect: wall_seconds
for (;;);
