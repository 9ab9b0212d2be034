// What proviso adds around mathjs.js.gz, which defines math.
'use strict';

// Expressions must not change what later ones see.
const refuse = (name) => () => {
  throw new Error(`${name} is disabled in expressions`);
};
math.import({ import: refuse('import'), createUnit: refuse('createUnit') }, { override: true });

const compiled = new Map();
const maxCompiled = 256;

function compileExpression(text) {
  let code = compiled.get(text);
  if (!code) {
    code = math.compile(text);
    if (compiled.size >= maxCompiled) compiled.delete(compiled.keys().next().value);
    compiled.set(text, code);
  }
  return code;
}

/** Throws if the expression has a mistake. */
function checkExpression(text) {
  compileExpression(text);
}

function evaluateExpression(text, scope) {
  return toData(compileExpression(text).evaluate(scope));
}

/** Matrices and lists of results as arrays; what is no JSON, such as a unit, as text. */
function toData(value) {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map(toData);
  if (math.isMatrix(value)) return toData(value.toArray());
  if (math.isResultSet(value)) return toData(value.entries);
  if (Object.getPrototypeOf(value) === Object.prototype) {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, toData(v)]));
  }
  return String(value);
}

// mathjs makes its functions when they are first used; that is part of loading.
evaluateExpression('1 / 2 + x', { x: 1 });
