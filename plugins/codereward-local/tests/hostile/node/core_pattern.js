// expect: contained
attempt('core', () => fs.openSync('/proc/sys/kernel/core_pattern', 'w'));
