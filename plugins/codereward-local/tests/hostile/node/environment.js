// expect: contained
const own = /^(PATH|HOME|TMPDIR|LANG|CODEREWARD_RESULT|PYTHON.*|MALLOC.*|OMP.*|OPENBLAS.*)$/;
const odd = Object.keys(process.env).filter((n) => !own.test(n)); if (odd.length) won(String(odd));
