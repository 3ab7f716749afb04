// expect: wall_seconds
/^(a+)+$/.test('a'.repeat(60) + 'b');
