// expect: contained
attempt('addon', () => process.dlopen({exports: {}}, '/nowhere.node'));
