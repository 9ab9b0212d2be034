package script_test

import (
	"testing"
	"time"

	"github.com/proviso-eval/proviso/internal/script"
)

// Every attack is followed by the probe in the same VM. An attack may fail in any
// way; the probe must not notice the attack.
func TestIsolation(t *testing.T) {
	t.Parallel()
	const probe = `
		const seen = [];
		const check = (name, ok) => { if (!ok) seen.push(name); };
		check('globals', Reflect.ownKeys(globalThis).join === [].join && typeof leak === 'undefined' && !(Symbol.for('leak') in globalThis) && !('inherited' in globalThis));
		check('array', [].x === undefined && [3, 1, 2].map((v) => v + 1).join() === '4,2,3' && [...[1, 2]].length === 2);
		check('object', ({}).y === undefined && String({}) === '[object Object]' && ({}).toString === Object.prototype.toString);
		check('json', JSON.parse('{"a":[1]}').a[0] === 1 && JSON.stringify({a: 1}) === '{"a":1}');
		check('string', 'abc'.includes('b') && 'a-b'.split('-').length === 2 && 'x'.z === undefined);
		check('function', (function () {}).call === Function.prototype.call && Function('return 1')() === 1 && (() => 1).bind(null)() === 1);
		check('regexp', /a/.test('a') && 'aXa'.replace(/X/, '-') === 'a-a' && RegExp.prototype.exec.call(/b/, 'abc').index === 1);
		check('promise', Promise.prototype.then.length === 2 && Object.getPrototypeOf(async () => {}).constructor.name === 'AsyncFunction' && Promise.resolve(1).constructor === Promise);
		check('species', Array[Symbol.species] === Array && [1].map((x) => x) instanceof Array && [1].concat(2).length === 2);
		check('iterator', Array.from(new Map([[1, 2]]).keys()).length === 1 && [...'ab'].length === 2 && [...(function* () { yield 1; })()].length === 1);
		check('math', Math.max(1, 2) === 2 && Number('5') === 5 && parseInt('7') === 7 && isNaN(NaN) && Date.now() > 1e12);
		check('error', new Error('m').message === 'm' && new TypeError('m') instanceof Error && String(new TypeError('m')) === 'TypeError: m');
		check('host', new URL('http://a.b/?q=1').searchParams.get('q') === '1' && Buffer.from('hi').toString('hex') === '6869' && btoa('a') === 'YQ==' && typeof console.log === 'function' && structuredClone({a: 1}).a === 1);
		check('self', arguments.callee.mark === undefined && arguments.callee.prototype.mark === undefined);
		check('typed', new Uint8Array([1, 2]).join() === '1,2' && new Uint8Array(1).t === undefined);
		check('symbol', Symbol.iterator in [] && Symbol.prototype.s === undefined);
		check('template', ((s) => s.raw[0])` + "`x`" + ` === 'x');
		arguments.callee.mark = 1;
		arguments.callee.prototype.mark = 1;
		return seen.join();`
	for _, attack := range []string{
		"leak = 1; var a = 2; return 0",
		"this.leak = 1; globalThis[Symbol.for('leak')] = 1",
		"Object.defineProperty(globalThis, 'leak', {get() { return 1 }, configurable: true})",
		"Object.defineProperty(globalThis, 'leak', {value: 1})",
		"Object.defineProperty(globalThis, 'leak', {get() { throw 1 }})",
		"Object.setPrototypeOf(globalThis, {leak: 1, inherited: 1})",
		"Object.setPrototypeOf(globalThis, new Proxy({}, {get() { return 1 }, has() { return true }}))",
		"globalThis.__proto__ = {inherited: 1}",
		"Object.preventExtensions(globalThis)",
		"leak = 1; Object.freeze(globalThis)",
		"(0, eval)('var leak = 1; function inherited() {}; let q = 1; const r = 2')",
		"new Function('leak = 1')(); Function('return this')().inherited = 1",
		"(async () => {}).constructor('globalThis.leak = 1')()",
		"Array.prototype.x = 1; Object.prototype.y = 1; String.prototype.z = 1; Symbol.prototype.s = 1",
		"'use strict'; Array.prototype.x = 1",
		"Object.defineProperty(Object.prototype, 'y', {value: 1})",
		"Object.defineProperty(Object.prototype, 'toString', {value: () => 'evil'})",
		"Object.prototype.toString = () => 'evil'; ({}).__proto__.valueOf = null",
		"Object.prototype.__defineGetter__('y', () => 1); [].__proto__.__defineSetter__('0', () => {})",
		"Object.setPrototypeOf(Object.prototype, {y: 1})",
		"Object.setPrototypeOf(Array.prototype, {x: 1})",
		"Object.setPrototypeOf(Function.prototype, null)",
		"JSON.parse = () => ({}); JSON.stringify = () => 'evil'; JSON = null; delete globalThis.JSON",
		"Array.prototype.map = Array.prototype.push = () => 1; Array.prototype[Symbol.iterator] = null; Array = 1",
		"Array.prototype.length = 5; Array.prototype.push(1, 2)",
		"Array[Symbol.species] = Object; Array.prototype.constructor = {[Symbol.species]: function () { return {} }}",
		"Object.defineProperty(Array, Symbol.species, {value: Object})",
		"[].constructor = Object; class A extends Array {}; A.prototype.map = 1; Array.prototype.concat.call = 1",
		"RegExp.prototype.exec = () => null; RegExp.prototype[Symbol.replace] = () => 'evil'; RegExp.prototype.test = 1",
		"Promise.prototype.then = () => {}; Promise.resolve = null; Promise[Symbol.species] = 1",
		"Object.getPrototypeOf(async () => {}).constructor = 1; Object.getPrototypeOf(function* () {}).prototype.next = 1",
		"Object.getPrototypeOf([][Symbol.iterator]()).next = () => ({done: true}); Object.getPrototypeOf(''[Symbol.iterator]()).next = 1",
		"Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]()))[Symbol.iterator] = 1",
		"Object.getPrototypeOf(new Map().keys()).next = 1; Map.prototype.keys = 1; Set.prototype.has = 1",
		"Object.getPrototypeOf((function* () {})()).next = 1; Object.getPrototypeOf(Object.getPrototypeOf((function* () {})())).next = 1",
		"Object.getPrototypeOf(Uint8Array).prototype.join = 1; Uint8Array.prototype.t = 1; Object.getPrototypeOf(Uint8Array).prototype.t = 1",
		"Math.max = () => 0; Number = String; parseInt = isNaN = () => 0; Date.now = () => 0; Math = undefined; NaN = 1; undefined = 1",
		"Error.prototype.message = 'evil'; Error.prototype.toString = () => 'evil'; TypeError.prototype.name = 'evil'; Error.prepareStackTrace = () => 'evil'; Error.stackTraceLimit = 0",
		"Error = TypeError = function () {}; Function.prototype.call = Function.prototype.bind = null; Function = 1",
		"URL.prototype.toString = 1; URL = 1; Buffer.from = 1; console.log = 1; console = 1; btoa = 1; structuredClone = () => 1; URLSearchParams.prototype.get = () => 'evil'",
		"Buffer.prototype.toString = () => 'evil'; Object.defineProperty(URL.prototype, 'searchParams', {value: 1})",
		"setTimeout(() => { leak = 1 }); setInterval(() => { leak = 1 }); return 1",
		"Promise.resolve().then(() => { leak = 1; Array.prototype.x = 1 }); return 1",
		"queueMicrotask(function f() { leak = 1; queueMicrotask(f) }); return 1",
		"const p = new Promise((f) => { globalThis.leak = f }); p.then(() => { inherited = 1 }); return p",
		"return new Promise((f) => setTimeout(() => { leak = 1; f(1) }, 5))",
		"(function f() { Promise.resolve().then(f).then(f); leak = 1 })(); return 1",
		"throw {get name() { leak = 1; Object.setPrototypeOf(globalThis, {inherited: 1}) }, toString() { leak = 2; return 'evil' }}",
		"throw Object.assign(new Error('x'), {toString() { Array.prototype.x = 1; leak = 1; throw 1 }})",
		"return {toJSON() { leak = 1; return 1 }}",
		"return {get a() { leak = 1; return 1 }}",
		"return {then(f) { leak = 1; f({then() { leak = 1 }}) }}",
		"arguments.callee.mark = 1; arguments.callee.prototype.mark = 1; arguments.callee.caller.mark = 1",
		"((s) => { s.leak = 1; s.raw.leak = 1 })`x`",
		"const g = (function* () { try { yield 1 } finally { leak = 1 } })(); g.next(); leak = g",
		"}, leak = 1, function () {",
		"for (const k of Reflect.ownKeys(globalThis)) { try { globalThis[k] = 1; delete globalThis[k] } catch {} }",
		"for (const k of Reflect.ownKeys(globalThis)) { try { Object.defineProperty(globalThis, k, {value: 1}) } catch {} try { Object.defineProperty(globalThis, k, {get() { return 1 }}) } catch {} }",
	} {
		e := newEngine(t, script.Options{MaxVMs: 1, Timeout: 500 * time.Millisecond})
		for range 2 {
			_, _ = evalBody(t.Context(), e, attack)
			if got, err := evalBody(t.Context(), e, probe); err != nil || got != "" {
				t.Errorf("after %s:\n\t%v, %v", attack, got, err)
			}
		}
	}
}

// Freezing objects must not affect ordinary code.
func TestOverrides(t *testing.T) {
	t.Parallel()
	e := newEngine(t, script.Options{MaxVMs: 1})
	for _, text := range []string{
		"const e = new Error('m'); e.name = 'Mine'; e.message = 'n'; return String(e) === 'Mine: n'",
		"'use strict'; const e = new TypeError('m'); e.name = 'Mine'; return e.name === 'Mine' && e instanceof TypeError",
		"const o = {}; o.toString = () => 'mine'; o.constructor = 5; o.valueOf = 1; return String(o) === 'mine' && o.constructor === 5 && Object.keys(o).join() === 'toString,constructor,valueOf'",
		"const n = {}; for (const w of ['constructor', 'toString', 'x', 'constructor']) n[w] = (Object.hasOwn(n, w) ? n[w] : 0) + 1; return n.constructor === 2",
		"function A() {} A.prototype.toString = () => 'a'; A.prototype.constructor = A; return String(new A()) === 'a'",
		"function A() {} A.prototype = Object.create(Error.prototype); A.prototype.name = 'A'; A.prototype.constructor = A; return new A().name === 'A' && new A() instanceof Error",
		"class E extends Error { constructor(m) { super(m); this.name = 'E' } } try { throw new E('m') } catch (e) { return e.name === 'E' && e.message === 'm' && e instanceof E }",
		"class A extends Array { sum() { return this.reduce((a, b) => a + b, 0) } } return A.from([1, 2]).map((x) => x * 2).sum() === 6",
		"const a = []; a.toString = () => 'mine'; return String(a) === 'mine'",
		"const f = () => 1; f.toString = () => 'mine'; f.call = 1; return String(f) === 'mine'",
		"var JSON2 = JSON; var URL = 5; function escape() { return 6 } let Map = 7; return URL === 5 && escape() === 6 && Map === 7",
		"count = 0; for (i = 0; i < 3; i++) count += i; return count === 3 && delete globalThis.count",
		"const d = new Date(0); d.toJSON = () => 'mine'; return JSON.stringify(d) === '\"mine\"'",
		"const o = Object.create(null); o.__proto__ = 1; const p = {__proto__: {q: 1}}; return o.__proto__ === 1 && p.q === 1",
		"return Object.prototype.hasOwnProperty.call({a: 1}, 'a') && ({a: 1}).hasOwnProperty('a') && ({}).constructor === Object && [].constructor === Array",
		"return Object.prototype.toString.call([]) === '[object Array]' && Array.prototype.slice.call({length: 1, 0: 'a'})[0] === 'a'",
		"return Object.keys(Object.getOwnPropertyDescriptors({a: 1})).join() === 'a' && (() => { for (const k in {}) return false; return true })()",
	} {
		if got, err := evalBody(t.Context(), e, text); err != nil || got != true {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}
