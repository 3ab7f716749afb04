// Beside every hostile Node program: writes into the result channel what should not have worked.
const fs = require('fs');
exports.won = (what) => fs.appendFileSync(process.env.CODEREWARD_RESULT, what + '\n');
exports.attempt = (what, action) => { try { action(); } catch { return; } exports.won(what); };
