// The JavaScript half of codec.go. It is evaluated before anything else in a
// VM and keeps what it uses of the language to itself, so that code which runs
// later and replaces JSON.parse or Array.prototype.map cannot reach it. It
// evaluates to a function that yields the bridge.
//
// Text that crosses in either direction and begins with U+0001 is marked:
//   \1s text   a string that itself begins with U+0001
//   \1j json   a value as JSON
//   \1e json   the same, with strings in it that are marked as below
//   \1o kind   no data: what typeof says
// Inside \1e, a string that begins with U+0001 is U+0001 and then
//   s text · u undefined · n NaN · + Infinity · - -Infinity · 0 minus zero
(function () {
  'use strict';
  const { parse, stringify } = JSON;
  const { isArray } = Array;
  const { keys, create, getPrototypeOf, is } = Object;
  const { apply } = Reflect;
  const objectPrototype = Object.prototype;
  const TypeErrorHere = TypeError, RangeErrorHere = RangeError;
  const charCodeAt = Function.prototype.call.bind(String.prototype.charCodeAt);
  const slice = Function.prototype.call.bind(String.prototype.slice);
  const boxes = [Number, String, Boolean, BigInt].map((box) => [box.prototype, Function.prototype.call.bind(box.prototype.valueOf)]);
  const hasInstance = Function.prototype.call.bind(objectPrototype.isPrototypeOf);
  const global = globalThis;
  const maxDepth = 1000;
  const maxText = 64 << 20;

  let marked = false; // whether the value being copied needs \1e
  let path = null;    // the containers around it, to tell a cycle from depth

  function plainNumber(v) {
    if (v - v !== 0 || (v === 0 && is(v, -0))) {
      marked = true;
      return v !== v ? '\u0001n' : v === 0 ? '\u00010' : v > 0 ? '\u0001+' : '\u0001-';
    }
    return v;
  }

  function unbox(v) {
    for (let i = 0; i < 4; i++) {
      if (hasInstance(boxes[i][0], v)) {
        try { return boxes[i][1](v); } catch { return v; }
      }
    }
    return v;
  }

  // plain copies v as JSON.stringify would see it, or returns undefined for
  // what JSON leaves out.
  function plain(v, key, depth) {
    if (typeof v === 'string') {
      if (charCodeAt(v, 0) !== 1) return v;
      marked = true;
      return '\u0001s' + v;
    }
    if (typeof v === 'number') return plainNumber(v);
    if (v === null || typeof v === 'boolean') return v;
    if (v === undefined) {
      marked = true;
      return '\u0001u';
    }
    if (typeof v === 'bigint') throw new TypeErrorHere('a BigInt has no JSON form');
    if (typeof v !== 'object') return undefined;
    const toJSON = v.toJSON;
    if (typeof toJSON === 'function') {
      const data = apply(toJSON, v, [key]);
      if (typeof data !== 'object' || data === null) return plain(data, key, depth);
      v = data;
    }
    return container(v, depth);
  }

  function container(v, depth) {
    if (depth > maxDepth) {
      for (let i = 0; i < depth; i++) if (path[i] === v) throw new TypeErrorHere('cyclic object value');
      throw new RangeErrorHere('the value nests deeper than ' + maxDepth);
    }
    path[depth] = v;
    if (isArray(v)) {
      const list = [];
      const n = v.length;
      for (let i = 0; i < n; i++) {
        const e = plain(v[i], i, depth + 1);
        list[i] = e === undefined ? null : e;
      }
      return list;
    }
    const proto = getPrototypeOf(v);
    if (proto !== objectPrototype && proto !== null) {
      const data = unbox(v);
      if (typeof data !== 'object') return plain(data, '', depth);
    }
    const object = create(null);
    const names = keys(v);
    const n = names.length;
    for (let i = 0; i < n; i++) {
      const e = plain(v[names[i]], names[i], depth + 1);
      if (e !== undefined) object[names[i]] = e;
    }
    return object;
  }

  function encode(v) {
    switch (typeof v) {
      case 'number': case 'boolean': case 'undefined':
        return v;
      case 'string':
        if (v.length > maxText) throw new RangeErrorHere('result too large');
        return charCodeAt(v, 0) === 1 ? '\u0001s' + v : v;
      case 'object':
        if (v === null) return v;
        break;
      default:
        return '\u0001o' + typeof v;
    }
    marked = false;
    path = create(null);
    const data = plain(v, '', 0);
    path = null;
    if (data === undefined) return undefined;
    if (data === '\u0001u') return undefined;
    const text = stringify(data);
    if (text.length > maxText) throw new RangeErrorHere('result too large');
    return (marked ? '\u0001e' : '\u0001j') + text;
  }

  function revive(v) {
    if (typeof v === 'string') {
      if (charCodeAt(v, 0) !== 1) return v;
      switch (v[1]) {
        case 'u': return undefined;
        case 'n': return NaN;
        case '+': return Infinity;
        case '-': return -Infinity;
        case '0': return -0;
      }
      return slice(v, 2);
    }
    if (typeof v !== 'object' || v === null) return v;
    const names = keys(v);
    for (let i = 0; i < names.length; i++) v[names[i]] = revive(v[names[i]]);
    return v;
  }

  function decode(v) {
    if (typeof v !== 'string' || charCodeAt(v, 0) !== 1) return v;
    switch (v[1]) {
      case 'j': return parse(slice(v, 2));
      case 'e': return revive(parse(slice(v, 2)));
    }
    return slice(v, 2);
  }

  // call is what a Library uses: a global function, by name.
  function call(name, ...args) {
    const f = global[name];
    if (typeof f !== 'function') throw new TypeErrorHere(name + ' is not a function of this library');
    for (let i = 0; i < args.length; i++) args[i] = decode(args[i]);
    return encode(apply(f, undefined, args));
  }

  return { call, encode, decode };
})()
