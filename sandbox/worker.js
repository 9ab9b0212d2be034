// The Node side of package sandbox: a worker, which serves the calls of one file.
// frame.go has the protocol.
//
// The process was confined before Node started. Everything that is used after user
// code has run is bound to a name here. So code that replaces JSON.parse or
// Array.prototype.map only breaks its own calls.
'use strict';
const fs = require('fs');
const path = require('path');
const vm = require('vm');
const Module = require('module');
const { fileURLToPath, pathToFileURL } = require('url');
const { Writable } = require('stream');
const { isPromise } = require('util').types;

const { readSync, read: readLater, writeSync } = fs;
const { parse, stringify } = JSON;
const { isArray } = Array;
const { keys, create, is, getOwnPropertyDescriptor } = Object;
const { ownKeys, apply, deleteProperty } = Reflect;
const { setImmediate, Error, TypeError, RangeError, String, Boolean, Number, BigInt, Promise } = globalThis;
const { getActiveResourcesInfo, resourceUsage, reallyExit } = process;
const exit = (status) => apply(reallyExit, process, [status]);
const resolved = Promise.resolve.bind(Promise);
const then = Function.prototype.call.bind(Promise.prototype.then);
const sliceOf = Function.prototype.call.bind(String.prototype.slice);
const codeAt = Function.prototype.call.bind(String.prototype.charCodeAt);

const config = parse(process.argv[process.argv.length - 1]);
process.argv = [process.execPath];
const HEADER = 9, MAX_FRAME = 16 << 20, MAX_DEPTH = 1000;

// ---- frames ----

let input = Buffer.allocUnsafe(64 << 10), start = 0, end = 0;
let output = Buffer.allocUnsafe(64 << 10);
const lengthOf = Function.prototype.call.bind(Buffer.prototype.readUInt32BE);
const setLength = Function.prototype.call.bind(Buffer.prototype.writeUInt32BE);
const copy = Function.prototype.call.bind(Buffer.prototype.copy);
const textOf = Function.prototype.call.bind(Buffer.prototype.toString);
const putText = Function.prototype.call.bind(Buffer.prototype.write);
const { allocUnsafe, byteLength } = Buffer;
const id = allocUnsafe(8);

// frame returns kind and payload of the frame that has arrived as a whole, or null.
function frame() {
  if (end - start < 4) return null;
  const size = lengthOf(input, start);
  if (size < HEADER || size > MAX_FRAME + HEADER) exit(4);
  if (end - start < size + 4) {
    if (size + 4 > input.length - start) {
      const larger = size + 4 > input.length ? allocUnsafe(size + 4) : input;
      end = copy(input, larger, 0, start, end);
      input = larger;
      start = 0;
    }
    return null;
  }
  copy(input, id, 0, start + 5, start + 13);
  const got = { kind: input[start + 4], payload: textOf(input, 'utf8', start + 13, start + size + 4) };
  start += size + 4;
  if (start === end) {
    start = end = 0;
    if (input.length > 64 << 10) input = allocUnsafe(64 << 10);
  } else if (input.length - end < 4) {
    end = copy(input, input, 0, start, end);
    start = 0;
  }
  return got;
}

function send(kind, text) {
  const size = byteLength(text);
  const need = size + HEADER + 4;
  const buffer = need > output.length ? allocUnsafe(need) : output;
  setLength(buffer, size + HEADER, 0);
  buffer[4] = codeAt(kind, 0);
  copy(id, buffer, 5);
  putText(buffer, text, 13);
  for (let at = 0; at < need;) at += writeSync(config.out, buffer, at, need - at);
}

// ---- values, as the bridge of internal/script has them ----

let marked = false; // whether what was copied needs marks
let around = null;  // the containers around it, to tell a cycle from depth

function number(v) {
  if (v - v !== 0 || (v === 0 && is(v, -0))) {
    marked = true;
    return v !== v ? '\u0001n' : v === 0 ? '\u00010' : v > 0 ? '\u0001+' : '\u0001-';
  }
  return v;
}

// plain copies v as JSON.stringify would see it, or returns undefined for what
// JSON leaves out.
function plain(v, key, depth) {
  switch (typeof v) {
    case 'string':
      if (codeAt(v, 0) !== 1) return v;
      marked = true;
      return '\u0001s' + v;
    case 'number': return number(v);
    case 'boolean': return v;
    case 'undefined':
      marked = true;
      return '\u0001u';
    case 'bigint': throw new TypeError('a BigInt has no JSON form');
    case 'object': break;
    default: return undefined;
  }
  if (v === null) return v;
  const { toJSON } = v;
  if (typeof toJSON === 'function') {
    const data = apply(toJSON, v, [key]);
    if (typeof data !== 'object' || data === null) return plain(data, key, depth);
    v = data;
  }
  if (depth > MAX_DEPTH) {
    for (let i = 0; i < depth; i++) if (around[i] === v) throw new TypeError('cyclic object value');
    throw new RangeError('the value nests deeper than ' + MAX_DEPTH);
  }
  around[depth] = v;
  if (isArray(v)) {
    const list = [];
    for (let i = 0; i < v.length; i++) {
      const e = plain(v[i], i, depth + 1);
      list[i] = e === undefined ? null : e;
    }
    return list;
  }
  if (v instanceof Number || v instanceof String || v instanceof Boolean || v instanceof BigInt) return plain(v.valueOf(), key, depth);
  const object = create(null);
  const names = keys(v);
  for (let i = 0; i < names.length; i++) {
    const e = plain(v[names[i]], names[i], depth + 1);
    if (e !== undefined) object[names[i]] = e;
  }
  return object;
}

// encode returns the kind and the payload of a result.
function encode(v) {
  switch (typeof v) {
    case 'boolean': return ['R', v ? 'true' : 'false'];
    case 'string': return ['R', stringify(v)];
    case 'undefined': return ['V', '"\\u0001u"'];
    case 'function': case 'symbol': case 'bigint': return ['O', '"' + typeof v + '"'];
  }
  marked = false;
  around = create(null);
  const data = plain(v, '', 0);
  around = null;
  if (data === undefined) return ['V', '"\\u0001u"'];
  const text = stringify(data);
  return [marked ? 'V' : 'R', text];
}

function revive(v) {
  if (typeof v === 'string') {
    if (codeAt(v, 0) !== 1) return v;
    switch (v[1]) {
      case 'u': return undefined;
      case 'n': return NaN;
      case '+': return Infinity;
      case '-': return -Infinity;
      case '0': return -0;
    }
    return sliceOf(v, 2);
  }
  if (typeof v !== 'object' || v === null) return v;
  const names = keys(v);
  for (let i = 0; i < names.length; i++) v[names[i]] = revive(v[names[i]]);
  return v;
}

// ---- errors ----

const shown = (v, n) => {
  try {
    return sliceOf(String(v), 0, n);
  } catch {
    return '<what was thrown cannot be shown>';
  }
};

// stackOf returns the frames of an exception down to the worker's own, and the
// line and column in the user's file.
function stackOf(e) {
  const lines = [];
  let line = 0, column = 0;
  const url = pathToFileURL(source.file).href;
  for (let text of shown(e.stack, 64 << 10).split('\n')) {
    if (!/^ {4}at /.test(text)) continue;
    if (/\[(worker )?eval\]/.test(text)) {
      if (line > 0) break;
      continue; // what the code has called
    }
    if (lines.length === 20) break;
    text = text.split(url).join(source.name).split(source.file).join(source.name);
    const at = text.lastIndexOf(source.name + ':');
    const place = at < 0 ? null : /^(\d+):(\d+)/.exec(text.slice(at + source.name.length + 1));
    if (place && line === 0) {
      line = Number(place[1]);
      column = Number(place[2]);
    }
    lines.push(text.slice(0, 500));
  }
  while (lines.length > 0 && /\(?node:internal/.test(lines[lines.length - 1])) lines.pop();
  return { stack: lines.length > 0 ? lines.join('\n') + '\n' : '', line, column };
}

// denial returns what the sandbox refused, or null if e is about something else.
function denial(e, depth) {
  if (!source.roots || depth > 5 || typeof e !== 'object' || e === null) return null;
  const { code, path: file, syscall } = e;
  if ((code === 'EPERM' || code === 'EACCES' || code === 'EROFS') && typeof syscall === 'string') return shown(e.message, 2048);
  if (code === 'ERR_DLOPEN_DISABLED') return 'native addons are not run';
  if (!source.network && (code === 'EAI_AGAIN' || code === 'ENOTFOUND') && syscall === 'getaddrinfo') return 'no network';
  if (code === 'ENOENT' && typeof file === 'string' && path.isAbsolute(file)) {
    if (!source.roots.some((r) => file === r || file.startsWith(r.replace(/\/$/, '') + '/'))) return 'outside of what it was granted: ' + shown(file, 1024);
  }
  if (isArray(e.errors)) {
    for (const other of e.errors.slice(0, 5)) {
      const found = denial(other, depth + 1);
      if (found) return found;
    }
  }
  return denial(e.cause, depth + 1);
}

// missing returns the name of the module that e says is not there, or null.
function missing(e) {
  const message = shown(e.message, 2048);
  if (/^(ERR_)?MODULE_NOT_FOUND$|^ERR_PACKAGE_PATH_NOT_EXPORTED$|^ERR_UNSUPPORTED_DIR_IMPORT$/.test(e.code) || / does not provide an export named /.test(message)) {
    const name = /['"]([^'"]+)['"]/.exec(message);
    return name ? name[1] : '';
  }
  return null;
}

// explain returns the payload of an error frame.
function explain(e) {
  try {
    if (e instanceof Missing) return stringify({ kind: 'missing', message: e.message, names: e.names });
    if (typeof e !== 'object' || e === null) return stringify({ kind: 'exception', name: '', message: shown(e, 2048) });
    const told = { kind: 'exception', name: shown(e.name === undefined ? '' : e.name, 200), message: shown(e.message === undefined ? e : e.message, 2048) };
    if (e.code === 'ERR_WORKER_OUT_OF_MEMORY' || e.code === 'ERR_MEMORY_ALLOCATION_FAILED' || e.code === 'ENOMEM' || told.message === 'Array buffer allocation failed') {
      told.kind = 'memory';
    }
    Object.assign(told, stackOf(e));
    const module = missing(e);
    if (module !== null) {
      told.kind = 'import';
      told.module = module;
      told.message = told.message.split('\n')[0].split(' imported from ')[0];
    } else if (told.kind === 'exception') {
      const refused = denial(e, 0);
      if (refused) Object.assign(told, { kind: 'denied', refused });
    }
    return stringify(told);
  } catch {
    return '{"kind":"exception","name":"Error","message":"an exception that cannot be shown"}';
  }
}

class Missing extends Error {
  constructor(message, names) {
    super(message);
    this.names = names;
  }
}

// ---- the source ----

let source = null;

// syntaxError returns the payload of an error frame for text that does not compile.
// For ECMAScript modules, Node gives no position. A function with the same lines,
// without imports and exports, has the same mistake at the same position.
function syntaxError(e, text, module) {
  const told = { kind: 'syntax', name: 'SyntaxError', message: shown(e.message, 2048), line: 0, column: 0 };
  let stack = shown(e.stack, 16 << 10);
  if (module) {
    const blank = (s) => s.replace(/[^\n]/g, ' ');
    const body = text
      .replace(/^[ \t]*import\b(?!\s*[(.])[^;'"]*(['"])[^'"\n]*\1/gm, blank)
      .replace(/^[ \t]*export\b\s*(\{[^}]*\}|\*[^'"\n]*)(\s*from\s*(['"])[^'"\n]*\3)?/gm, blank)
      .replace(/^([ \t]*)export(\s+)default\b/gm, (s, a, b) => a + blank('export') + b + '_ =    ')
      .replace(/^([ \t]*)export\b/gm, (s, a) => a + blank('export'));
    try {
      vm.compileFunction(body.replace(/\bimport\.meta\b/g, '{}         '), [], { filename: source.file });
      new vm.Script('(async () => {' + body + '\n})', { filename: source.file });
    } catch (again) {
      if (again.message === e.message) stack = shown(again.stack, 16 << 10);
      else if (/await/.test(again.message)) {
        try {
          new vm.Script('(async () => {' + body + '\n})', { filename: source.file, columnOffset: -14 });
        } catch (last) {
          if (last.message === e.message) stack = shown(last.stack, 16 << 10);
        }
      }
    }
  }
  const at = stack.startsWith(source.file + ':') ? /^(\d+)\n.*\n( *)/.exec(stack.slice(source.file.length + 1)) : null;
  if (at) {
    told.line = Number(at[1]);
    told.column = at[2].length + 1 - (told.line === 1 ? source.before : 0);
  }
  return stringify(told);
}

class Mistake extends Error {
  constructor(payload) {
    super('syntax');
    this.payload = payload;
  }
}

const looksLikeModule = (text) => /^[ \t]*(import|export)\b[ {*]/m.test(text);

// compile compiles a file as the kind that its name, or otherwise its text, indicates.
function compile() {
  let { text } = source;
  if (/\.[cm]?ts$/i.test(source.file)) text = withoutTypes(text);
  const kind = /\.m[jt]s$/i.test(source.file) ? 'module' : /\.c[jt]s$/i.test(source.file) ? 'common' : '';
  let first = null;
  if (kind !== 'module') {
    try {
      source.common = vm.compileFunction(text, ['exports', 'require', 'module', '__filename', '__dirname'], {
        filename: source.file, columnOffset: -source.before, importModuleDynamically: (name, _, attributes) => importFrom(name, attributes),
      });
      return;
    } catch (e) {
      if (kind === 'common' || !(e instanceof SyntaxError)) throw e instanceof SyntaxError ? new Mistake(syntaxError(e, text, false)) : e;
      first = e;
    }
  }
  source.text = text;
  source.head = /\.[cm]?ts$/i.test(source.file) ? placeOf(text) : '';
  try {
    source.next = esModule();
  } catch (e) {
    if (!(e instanceof SyntaxError)) throw e;
    if (first && !looksLikeModule(text)) throw new Mistake(syntaxError(first, text, false));
    throw new Mistake(syntaxError(e, text, true));
  }
}

function withoutTypes(text) {
  try {
    return Module.stripTypeScriptTypes(text);
  } catch (e) {
    if (e.code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') {
      try {
        return Module.stripTypeScriptTypes(text, { mode: 'transform' });
      } catch (again) {
        e = again;
      }
    }
    const stack = shown(e.stack, 16 << 10), line = /^[^\n]*:(\d+)\n/.exec(stack), column = /^( *)\^/m.exec(stack);
    throw new Mistake(stringify({
      kind: 'syntax', name: 'SyntaxError', message: shown(e.message, 2048).split('\n')[0],
      line: line ? Number(line[1]) : e.startLine || 0, column: column ? column[1].length + 1 : 0,
    }));
  }
}

// placeOf declares __dirname and __filename for a TypeScript module that uses them: its compilers
// write CommonJS from it, where they exist.
function placeOf(text) {
  const uses = (name) => new RegExp('\\b' + name + '\\b').test(text) && !new RegExp('\\b(const|let|var)\\s+' + name + '\\b').test(text);
  return (uses('__dirname') ? 'const __dirname = import.meta.dirname; ' : '') + (uses('__filename') ? 'const __filename = import.meta.filename; ' : '');
}

// esModule returns the file as an unevaluated module. A module can be evaluated
// only once.
function esModule() {
  return new vm.SourceTextModule(source.head + source.text, {
    identifier: source.file,
    columnOffset: -source.head.length,
    initializeImportMeta(meta) {
      meta.url = pathToFileURL(source.file).href;
      meta.filename = source.file;
      meta.dirname = source.dir;
      meta.resolve = (name) => (Module.isBuiltin(name) ? (name.startsWith('node:') ? name : 'node:' + name) : /^\.{0,2}\//.test(name) ? new URL(name, meta.url).href : pathToFileURL(source.require.resolve(name)).href);
    },
    importModuleDynamically: (name, _, attributes) => importFrom(name, attributes),
  });
}

// refuseBare throws for the name of a package, unless packages are granted.
function refuseBare(name) {
  if (source.packages || typeof name !== 'string' || Module.isBuiltin(name) || /^(\.{0,2}\/|\.{1,2}$|#|file:|data:|node:)/.test(name) || path.isAbsolute(name)) return;
  throw Object.assign(new Error("Cannot find module '" + name + "'"), { code: 'MODULE_NOT_FOUND' });
}

// typescriptName reports whether TypeScript names another file of its own.
function typescriptName(name, context) {
  return /^\.{1,2}\//.test(name) && /\.[cm]?ts$/.test(context.parentURL || '');
}

// resolveTypeScript finds a file as compilers and bundlers of TypeScript do, where
// Node finds none: the name may lack its suffix, name a folder with an index, or
// have the suffix that the compiled file would have.
function resolveTypeScript(name, context, next) {
  try {
    return next(name, context);
  } catch (e) {
    const compiled = name.replace(/\.([cm]?)js$/, '.$1ts');
    const tries = compiled === name ? [] : [compiled];
    for (const suffix of ['.ts', '.js', '.mts', '.mjs', '.cts', '.cjs', '.json']) tries.push(name + suffix);
    for (const suffix of ['.ts', '.js', '.mjs', '.cjs']) tries.push(name.replace(/\/$/, '') + '/index' + suffix);
    for (const other of tries) {
      try {
        return next(other, context);
      } catch (ignored) {}
    }
    throw e;
  }
}

// isTypeScriptModule reports whether a file of a package that says it is CommonJS
// has the syntax of modules all the same: compilers write CommonJS from it.
function isTypeScriptModule(url) {
  try {
    return looksLikeModule(fs.readFileSync(fileURLToPath(url), 'utf8'));
  } catch (ignored) {
    return false;
  }
}

// importFrom imports what the file names, as Node's own loader does.
async function importFrom(name, attributes) {
  refuseBare(name);
  if (!source.importer) {
    source.importer = new vm.Script('(name, options) => import(name, options)', {
      filename: source.file, importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    }).runInThisContext();
  }
  return attributes && keys(attributes).length > 0 ? source.importer(name, { with: { ...attributes } }) : source.importer(name);
}

// linked returns a module with the exports of what the file imports.
async function linked(name, _, extra) {
  const attributes = extra && (extra.attributes || extra.assert);
  const key = name + '\0' + stringify(attributes || {});
  if (!source.links.has(key)) {
    const exported = await importFrom(name, attributes);
    const names = keys(exported);
    source.links.set(key, new vm.SyntheticModule(names, function () {
      for (const n of names) this.setExport(n, exported[n]);
    }, { identifier: name }));
  }
  return source.links.get(key);
}

// entryOf finds the function that a module exports ('' is the default).
function entryOf(exports) {
  const name = source.entry;
  const inner = exports === null || exports === undefined ? undefined : exports.default;
  const found = name === ''
    ? [exports, inner, inner === null || inner === undefined ? undefined : inner.default]
    : [exports === null || exports === undefined ? undefined : exports[name], inner === null || inner === undefined ? undefined : inner[name]];
  for (const f of found) if (typeof f === 'function') return f;
  const names = [];
  for (const where of [exports, inner]) {
    if ((typeof where !== 'object' && typeof where !== 'function') || where === null) continue;
    for (const n of keys(where)) if (typeof where[n] === 'function' && names.indexOf(n) < 0 && n !== 'default') names.push(n);
  }
  throw new Missing(name === '' ? 'it exports no function as its default' : 'there is no function ' + name, names.slice(0, 100));
}

// load evaluates the file anew and returns its function, or a promise of it.
function load() {
  if (source.common) {
    const module = new Module(source.file, null);
    module.filename = source.file;
    module.paths = source.paths;
    apply(source.common, module.exports, [module.exports, source.require, module, source.file, source.dir]);
    return entryOf(module.exports);
  }
  return loadModule();
}

async function loadModule() {
  const module = source.next || esModule();
  source.next = null;
  await module.link(linked);
  await module.evaluate();
  return entryOf(module.namespace);
}

// ---- what a call leaves behind ----

// Calls of the same source share the globals, the built-in objects, and what those
// inherit. The worker detects assignments to them. Code that hides its changes
// better only deceives itself.
let globals = 0, known = create(null), unchanged = () => true;

function remember() {
  for (const name of ['require', 'module', 'exports', '__filename', '__dirname']) delete globalThis[name]; // of this text
  for (const k of keys(globalThis)) known[k] = true;
  globals = keys(globalThis).length;
  const objects = [globalThis], held = [], tests = [];
  for (const root of [Object, Function, Array, String, Number, Boolean, RegExp, Date, Promise, Map, Set, Error, Symbol, JSON, Math, Reflect, Uint8Array]) {
    objects.push(root);
    if (root.prototype) objects.push(root.prototype);
  }
  objects.forEach((object, i) => {
    for (const name of ownKeys(object)) {
      const { value } = getOwnPropertyDescriptor(object, name);
      if (value === undefined || value !== value || typeof name === 'symbol' || name === 'stackTraceLimit') continue;
      tests.push('o[' + i + '][' + stringify(name) + '] === v[' + held.length + ']');
      held.push(value);
    }
  });
  const samples = [{}, [], 0, true, () => 0, /x/, new Date(0), resolved(), new Map(), new Set(), new Error('x'), Symbol.iterator, new Uint8Array()];
  const loops = samples.map((_, i) => 'for (const k in s[' + i + ']) return false;').join(' ');
  // As one expression, this takes a hundredth of the time of a loop over names.
  unchanged = new Function('o', 'v', 's', loops + ' return ' + tests.join(' && ')).bind(null, objects, held, samples);
}

// tidy removes the globals that a call has made, and reports whether the worker is
// as it was before.
function tidy() {
  let names = keys(globalThis);
  if (names.length !== globals) {
    for (let i = 0; i < names.length; i++) if (!known[names[i]]) deleteProperty(globalThis, names[i]);
    names = keys(globalThis);
  }
  return names.length === globals && unchanged();
}

// Threads that the code has started and that have not ended. An unreferenced thread
// is not listed as an active resource, but still runs.
let threads = 0;
require('diagnostics_channel').subscribe('worker_threads', ({ worker }) => {
  threads++;
  worker.once('exit', () => { threads--; });
});

// spins reports whether the process computed between calls for at least a tenth of the
// time, if that was long enough to measure: threads of code with side effects may wait,
// but not compute. cpuUsage counts every thread.
let rested = null, restedAt = 0n, spun = false;
const { cpuUsage, hrtime } = process;
const now = hrtime.bigint;

function rest() {
  rested = apply(cpuUsage, process, []);
  restedAt = now();
}

function spins() {
  if (rested === null) return false;
  const { user, system } = apply(cpuUsage, process, []);
  const slept = Number(now() - restedAt) / 1000;
  return slept > 50000 && user + system - rested.user - rested.system > slept / 10;
}

let served = 0;

// worn reports whether the worker should be replaced after this call.
function worn() {
  try {
    return wornNow();
  } catch {
    return true; // the code has changed what it takes to tell
  }
}

function wornNow() {
  if (spun || !source.keep && (threads > 0 || !tidy() || apply(getActiveResourcesInfo, process, []).length > 0)) return true;
  return ++served % 16 === 1 && apply(resourceUsage, process, []).maxRSS * 1024 > source.rss;
}

// ---- calls ----

let turn = 0;        // which request it is
let pending = false; // it waits for a promise

const asking = { R: 'r', V: 'v', O: 'o', E: 'e' }; // the kinds of a worker that asks to be replaced

// answer ends a request, unless it has ended.
function answer(mine, kind, text, last = false) {
  if (mine !== turn || !pending) return;
  pending = false;
  if (threads > 0) rest();
  send(last ? asking[kind] : kind, text);
  setImmediate(serve);
}

function result(mine, v) {
  if (mine !== turn || !pending) return;
  let encoded;
  try {
    encoded = encode(v);
    if (byteLength(encoded[1]) > source.reply) encoded = ['E', '{"kind":"large"}'];
  } catch (e) {
    encoded = ['E', explain(e)];
  }
  answer(mine, encoded[0], encoded[1], worn());
}

const failed = (mine, e, last) => answer(mine, 'E', e instanceof Mistake ? e.payload : explain(e), last);

// settle answers with what work returns, now or when it is settled.
function settle(work, done) {
  const mine = ++turn;
  pending = true;
  try {
    const v = work();
    if (isPromise(v) || (v !== null && (typeof v === 'object' || typeof v === 'function') && typeof v.then === 'function')) {
      then(resolved(v), (w) => done(mine, w), (e) => failed(mine, e, done === result && worn()));
    } else done(mine, v);
  } catch (e) {
    failed(mine, e, done === result && worn());
  }
}

function call(args) {
  if (threads > 0) spun = spins();
  const f = source.function;
  if (!source.keep) source.function = null;
  settle(() => {
    if (f) return apply(f, undefined, args);
    const loaded = load();
    if (typeof loaded === 'function') return apply(loaded, undefined, args);
    return then(loaded, (g) => apply(g, undefined, args));
  }, result);
}

const done = (mine) => answer(mine, 'R', 'true');

// open sets up the environment that the file may see, and evaluates the file.
function open() {
  Object.assign(process.env, source.env);
  if (source.cwd) process.chdir(source.cwd);
  if (config.path && config.path.length > 0) {
    process.env.NODE_PATH = config.path.join(path.delimiter);
    Module._initPaths();
    delete process.env.NODE_PATH;
  }
  const find = Module._resolveFilename;
  Module._resolveFilename = function (name, ...rest) {
    refuseBare(name);
    return apply(find, this, [name, ...rest]);
  };
  if (typeof Module.registerHooks === 'function') {
    Module.registerHooks({
      resolve(name, context, next) {
        refuseBare(name);
        return typescriptName(name, context) ? resolveTypeScript(name, context, next) : next(name, context);
      },
      load(url, context, next) {
        const loaded = next(url, context.format === 'commonjs-typescript' && isTypeScriptModule(url) ? { ...context, format: 'module-typescript' } : context);
        if (loaded.format === 'module-typescript' && loaded.source) loaded.source = placeOf(String(loaded.source)) + loaded.source;
        return loaded;
      },
    });
  }
  remember();
  source.rss += resourceUsage().maxRSS * 1024; // a process inherits the peak of the one that starts it
  compile();
  const loaded = load();
  return typeof loaded === 'function' ? void (source.function = loaded) : loaded.then((f) => { source.function = f; });
}

function read(payload) {
  source = { ...parse(payload), links: new Map(), function: null, common: null, next: null, importer: null };
  source.file = path.resolve(source.path || source.name);
  source.dir = path.dirname(source.file);
  source.paths = Module._nodeModulePaths(source.dir);
  source.require = Module.createRequire(source.file);
}

function handle({ kind, payload }) {
  switch (String.fromCharCode(kind)) {
    case 'C': return call(parse(payload));
    case 'D': return call(revive(parse(payload)));
    case 'S':
      read(payload);
      return settle(open, done);
    case 'K':
      read(payload);
      return settle(compile, done);
    case 'P': return settle(() => probe(parse(payload)), (mine, through) => answer(mine, 'R', stringify(through)));
  }
  exit(4);
}

// serve reads the next request. Code that decides runs only while the parent waits
// for it; code with side effects may have connections, which stay active meanwhile.
function serve() {
  const got = frame();
  if (got) {
    handle(got);
    return;
  }
  if (source && source.keep) {
    readLater(config.in, input, end, input.length - end, null, (e, n) => {
      if (e || n === 0) exit(0);
      end += n;
      serve();
    });
    return;
  }
  let n = 0;
  try {
    n = readSync(config.in, input, end, input.length - end, null);
  } catch (e) {
    if (e.code !== 'EAGAIN') exit(0);
    setImmediate(serve);
    return;
  }
  if (n === 0) exit(0);
  end += n;
  serve();
}

// probe tries what the sandbox must refuse; it returns what was not refused.
async function probe(said) {
  const net = require('net'), dgram = require('dgram'), { spawnSync } = require('child_process');
  const refused = (e) => Boolean(e) && (e.code === 'EPERM' || e.code === 'EACCES');
  const connects = (options) => new Promise((ok) => {
    const s = net.connect(options, () => { s.destroy(); ok(true); });
    s.on('error', (e) => ok(!refused(e)));
  });
  const sends = () => new Promise((ok) => {
    const s = dgram.createSocket('udp4');
    s.on('error', (e) => ok(!refused(e)));
    s.send('x', 9, '127.0.0.1', (e) => ok(!refused(e)));
  });
  const opens = (name, flags) => {
    try {
      fs.closeSync(fs.openSync(name, flags));
      if (flags !== 'r') fs.unlinkSync(name);
      return true;
    } catch {
      return false;
    }
  };
  const through = [];
  const tried = (name, worked) => { if (worked) through.push(name); };
  tried('read', opens(said.file, 'r'));
  tried('parent', opens(said.parent, 'r'));
  for (const name of said.write) tried('write', opens(name, 'wx'));
  if (!said.network) {
    tried('socket', await connects({ host: '127.0.0.1', port: 9 }));
    tried('socket', await sends());
  }
  tried('socket', await connects({ path: '/nonexistent' }));
  for (const name of said.exec) {
    // spawnSync reports a refused fork. Node ends if it may not replace itself with
    // another program, so exec_linux.go tries that before it starts Node.
    tried('fork', !refused(spawnSync(name, ['--version']).error));
  }
  return through;
}

// ---- the world ----

// Output of the code: the first bytes go to the host, which shows them if the
// worker dies; the rest is dropped.
let left = 8192;
const sink = () => new Writable({
  decodeStrings: false,
  write(chunk, encoding, next) {
    if (left > 0) {
      const data = typeof chunk === 'string' ? sliceOf(chunk, 0, left) : chunk.subarray(0, left);
      left -= data.length;
      try { writeSync(2, data); } catch { left = 0; }
    }
    next();
  },
});
for (const name of ['stdout', 'stderr']) {
  const stream = sink();
  Object.defineProperty(process, name, { value: stream, configurable: true, enumerable: true });
}
process.on('uncaughtException', (e) => failed(turn, e));
process.on('unhandledRejection', () => {});
process.on('beforeExit', () => { answer(turn, 'E', '{"kind":"stuck"}'); });

id.fill(0);
send('H', '1');
serve();
