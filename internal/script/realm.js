// Makes a VM fit for code of many owners, one call after another, and runs it.
//
// A fresh VM for each call would be the simplest isolation, but costs a hundred
// times the call. Instead everything that outlives a call was made immutable by
// harden.js. What a call can still do is add properties to the global object, replace its
// prototype, and leave timers and promise jobs behind. clean, before each call,
// undoes the first and reports whether all else is as it was; the Go half drains
// the jobs after each call, and throws the VM away if anything is left.
(function (bridge, scheduler) {
  'use strict';
  const {
    create, freeze, getPrototypeOf, isExtensible, setPrototypeOf,
  } = Object;
  const { apply, ownKeys, deleteProperty } = Reflect;
  const { encode, decode } = bridge;
  const global = globalThis;
  const FunctionHere = Function, TypeErrorHere = TypeError, SyntaxErrorHere = SyntaxError, ReferenceErrorHere = ReferenceError;
  const sourceOf = Function.prototype.call.bind(Function.prototype.toString);
  const resolve = Promise.resolve.bind(Promise);
  const then = Function.prototype.call.bind(Promise.prototype.then);

  const names = ownKeys(global);
  const known = create(null);
  for (const key of names) known[key] = true;
  const knownCount = names.length;
  const globalPrototype = getPrototypeOf(global);

  // QuickJS lets defineProperty replace the value of a global that is neither
  // writable nor configurable. unchanged compares them all; as one expression
  // that takes a third of the time of a loop over names.
  const named = names.filter((key) => typeof key === 'string' && key !== 'NaN');
  const values = named.map((key) => global[key]);
  const unchanged = new FunctionHere('values', 'return NaN !== NaN && ' + named.map((key, i) => 'values[' + i + '] === ' + key).join(' && '));

  // clean removes what a call added to the global object, and its timers. It
  // reports false if the VM cannot be made what it was.
  function clean() {
    scheduler.reset();
    state = 0;
    value = undefined;
    let keys = ownKeys(global);
    if (keys.length !== knownCount) {
      for (let i = 0; i < keys.length; i++) if (!known[keys[i]]) deleteProperty(global, keys[i]);
      keys = ownKeys(global);
    }
    if (getPrototypeOf(global) !== globalPrototype) {
      try { setPrototypeOf(global, globalPrototype); } catch { return false; }
    }
    return keys.length === knownCount && isExtensible(global) && unchanged(values);
  }

  // ---- compile ----

  // compile makes a sloppy function. The text of the function is compared, for
  // source such as '}, function () {' would balance the braces around it.
  function compile(params, body) {
    const f = new FunctionHere(params, body);
    if (sourceOf(f) !== 'function anonymous(' + params + '\n) {\n' + body + '\n}') throw new SyntaxErrorHere("unexpected token: '}'");
    if (f.prototype) freeze(f.prototype); // arguments.callee leads to both
    return freeze(f);
  }

  function require(name) {
    throw new ReferenceErrorHere('require(' + (typeof name === 'string' ? "'" + name + "'" : '') + ') is not available: a script has no modules and no access to its host');
  }

  // entryOf finds the function a module exports under name ('' is the default).
  function entryOf(exports, name) {
    const nested = exports === null || exports === undefined ? undefined : exports.default;
    const found = name === ''
      ? [exports, nested, nested === null || nested === undefined ? undefined : nested.default]
      : [exports === null || exports === undefined ? undefined : exports[name], nested === null || nested === undefined ? undefined : nested[name]];
    for (let i = 0; i < found.length; i++) if (typeof found[i] === 'function') return found[i];
    throw new TypeErrorHere(name === '' ? 'the module exports no function as its default' : 'the module exports no function ' + name);
  }

  // common evaluates a CommonJS file anew, so that its variables do not last
  // from call to call.
  function common(f, name) {
    const module = { exports: {} };
    apply(f, module.exports, [module, module.exports, require]);
    return entryOf(module.exports, name);
  }

  // ---- run ----

  let turn = 0;  // which call it is, so that promises of earlier ones are ignored
  let state = 0; // of the promise that the call returned: 1 fulfilled, 2 rejected
  let value;

  // settle encodes a result, or waits for it if it is a promise: \1w.
  function settle(result) {
    if (result === null || (typeof result !== 'object' && typeof result !== 'function') || typeof result.then !== 'function') return encode(result);
    const mine = turn;
    const settled = (s) => (v) => { if (turn === mine) { state = s; value = v; } };
    then(resolve(result), settled(1), settled(2));
    return '\u0001w';
  }

  // begin wraps what runs code of a user. It is given a function of the code's
  // own, then arguments as Go encodes them; \1d says that the VM is not clean.
  const begin = (run, own) => function (...args) {
    turn++;
    if (!clean()) return '\u0001d';
    for (let i = own; i < args.length; i++) args[i] = decode(args[i]);
    return settle(run(args));
  };
  const rest = (args, n) => { const list = []; for (let i = n; i < args.length; i++) list[i - n] = args[i]; return list; };

  const call = begin((args) => apply(args[0], undefined, rest(args, 1)), 1);
  const callCommon = begin((args) => apply(common(args[0], args[1]), undefined, rest(args, 2)), 2);
  const callModule = begin((args) => then(import(args[0]), (exports) => apply(entryOf(exports, args[1]), undefined, rest(args, 2))), 2);
  // load evaluates a module only to see that it has the function.
  const loadCommon = begin((args) => { common(args[0], args[1]); }, 2);
  const loadModule = begin((args) => then(import(args[0]), (exports) => { entryOf(exports, args[1]); }), 2);

  // poll looks at the promise: its value, \1w after a timer ran, \1n if nothing
  // is left that could settle it.
  function poll() {
    if (state === 1) return encode(value);
    if (state === 2) throw value;
    return scheduler.next() ? '\u0001w' : '\u0001n';
  }

  return { compile, call, callCommon, callModule, loadCommon, loadModule, poll };
})
