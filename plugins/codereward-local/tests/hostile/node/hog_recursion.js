// expect: ends
const f = () => f(); f();
