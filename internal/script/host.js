// Pure stand-ins for what assertions use of their host. Nothing here reaches
// outside of the VM. It defines globals and evaluates to the timers, which
// realm.js drives.
(function () {
  'use strict';
  const define = (names) => {
    for (const name of Object.keys(names)) {
      Object.defineProperty(globalThis, name, { value: names[name], writable: true, configurable: true, enumerable: false });
    }
  };

  // ---- Array.fromAsync, which the engine lacks ----
  async function fromAsync(items, map = undefined, thisArg = undefined) {
    if (map !== undefined && typeof map !== 'function') throw new TypeError(String(map) + ' is not a function');
    const made = (...length) => (typeof this === 'function' ? new this(...length) : new Array(...length));
    const put = async (list, i, v) => {
      const value = map === undefined ? v : await map.call(thisArg, v, i);
      Object.defineProperty(list, i, { value, writable: true, enumerable: true, configurable: true });
    };
    let list, n = 0;
    if (items[Symbol.asyncIterator] != null || items[Symbol.iterator] != null) {
      list = made();
      for await (const v of items) await put(list, n++, v);
    } else {
      const length = Math.min(Math.max(Math.trunc(Number(items.length)) || 0, 0), Number.MAX_SAFE_INTEGER);
      list = made(length);
      for (; n < length; n++) await put(list, n, await items[n]);
    }
    list.length = n;
    return list;
  }
  Object.defineProperty(fromAsync, 'length', { value: 1, configurable: true });
  Object.defineProperty(Array, 'fromAsync', { value: fromAsync, writable: true, configurable: true, enumerable: false });

  // ---- console: accepted and discarded ----
  const silent = {};
  for (const name of ['assert', 'clear', 'count', 'countReset', 'debug', 'dir', 'dirxml', 'error', 'group', 'groupCollapsed',
    'groupEnd', 'info', 'log', 'table', 'time', 'timeEnd', 'timeLog', 'trace', 'warn']) {
    silent[name] = { [name]() {} }[name];
  }

  // ---- text and bytes ----
  const codePoint = (c) => (c >= 0xd800 && c < 0xe000 ? 0xfffd : c);

  function utf8Encode(text) {
    const out = [];
    for (const ch of text) {
      const c = codePoint(ch.codePointAt(0));
      if (c < 0x80) out.push(c);
      else if (c < 0x800) out.push(0xc0 | c >> 6, 0x80 | c & 63);
      else if (c < 0x10000) out.push(0xe0 | c >> 12, 0x80 | c >> 6 & 63, 0x80 | c & 63);
      else out.push(0xf0 | c >> 18, 0x80 | c >> 12 & 63, 0x80 | c >> 6 & 63, 0x80 | c & 63);
    }
    return out;
  }

  // utf8Decode is the WHATWG decoder: a maximal broken prefix is one U+FFFD.
  function utf8Decode(bytes, fatal) {
    let text = '';
    let c = 0, need = 0, low = 0x80, high = 0xbf;
    const broken = () => {
      if (fatal) throw new TypeError('The encoded data was not valid for encoding utf-8');
      text += '\ufffd';
      need = 0; low = 0x80; high = 0xbf;
    };
    for (let i = 0; i < bytes.length; i++) {
      const b = bytes[i];
      if (need > 0) {
        if (b < low || b > high) { broken(); i--; continue; }
        low = 0x80; high = 0xbf;
        c = c << 6 | b & 63;
        if (--need === 0) text += String.fromCodePoint(c);
      } else if (b < 0x80) text += String.fromCharCode(b);
      else if (b >= 0xc2 && b <= 0xdf) { need = 1; c = b & 31; }
      else if (b >= 0xe0 && b <= 0xef) { need = 2; c = b & 15; if (b === 0xe0) low = 0xa0; if (b === 0xed) high = 0x9f; }
      else if (b >= 0xf0 && b <= 0xf4) { need = 3; c = b & 7; if (b === 0xf0) low = 0x90; if (b === 0xf4) high = 0x8f; }
      else broken();
    }
    if (need > 0) broken();
    return text;
  }

  const viewOf = (data) => {
    if (data === undefined) return [];
    if (data instanceof ArrayBuffer || data instanceof SharedArrayBuffer) return new Uint8Array(data);
    if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    throw new TypeError('expected an ArrayBuffer or a view of one');
  };

  class TextEncoder {
    get encoding() { return 'utf-8'; }
    encode(text = '') { return new Uint8Array(utf8Encode(String(text))); }
  }

  class TextDecoder {
    #fatal; #keepBOM;
    constructor(label = 'utf-8', options = {}) {
      if (!/^\s*(utf-?8|unicode-1-1-utf-8)\s*$/i.test(label)) throw new RangeError('The "' + label + '" encoding is not supported');
      this.#fatal = Boolean(options.fatal);
      this.#keepBOM = Boolean(options.ignoreBOM);
    }
    get encoding() { return 'utf-8'; }
    get fatal() { return this.#fatal; }
    get ignoreBOM() { return this.#keepBOM; }
    decode(data) {
      const text = utf8Decode(viewOf(data), this.#fatal);
      return !this.#keepBOM && text.startsWith('\ufeff') ? text.slice(1) : text;
    }
  }

  // ---- base64 ----
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
  const sextets = new Int8Array(128).fill(-1);
  for (let i = 0; i < 64; i++) sextets[alphabet.charCodeAt(i)] = i;
  sextets[45] = 62; // '-' and '_' of base64url
  sextets[95] = 63;

  function toBase64(bytes, url) {
    let text = '';
    for (let i = 0; i < bytes.length; i += 3) {
      const left = bytes.length - i;
      const n = bytes[i] << 16 | (left > 1 ? bytes[i + 1] : 0) << 8 | (left > 2 ? bytes[i + 2] : 0);
      text += alphabet[n >> 18] + alphabet[n >> 12 & 63] + (left > 1 ? alphabet[n >> 6 & 63] : '=') + (left > 2 ? alphabet[n & 63] : '=');
    }
    return url ? text.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '') : text;
  }

  // fromBase64 reads as Buffer does: what is not in the alphabet is skipped.
  function fromBase64(text) {
    const out = [];
    let n = 0, bits = 0;
    for (let i = 0; i < text.length && text[i] !== '='; i++) {
      const c = text.charCodeAt(i);
      const v = c < 128 ? sextets[c] : -1;
      if (v < 0) continue;
      n = (n << 6 | v) & 0xffffff;
      bits += 6;
      if (bits >= 8) { bits -= 8; out.push(n >> bits & 255); }
    }
    return out;
  }

  const badCharacter = (message) => {
    const e = new Error(message);
    e.name = 'InvalidCharacterError';
    return e;
  };

  function atob(data) {
    let text = String(data).replace(/[\t\n\f\r ]/g, '');
    if (text.length % 4 === 0) text = text.replace(/==?$/, '');
    if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text)) throw badCharacter('The string to be decoded is not correctly encoded.');
    let out = '';
    for (const b of fromBase64(text)) out += String.fromCharCode(b);
    return out;
  }

  function btoa(data) {
    const text = String(data);
    const bytes = [];
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      if (c > 255) throw badCharacter('Invalid character');
      bytes.push(c);
    }
    return toBase64(bytes, false);
  }

  // ---- Buffer ----
  const byteCodes = (text, mask) => Array.from({ length: text.length }, (_, i) => text.charCodeAt(i) & mask);
  const encoders = {
    utf8: utf8Encode,
    latin1: (text) => byteCodes(text, 255),
    ascii: (text) => byteCodes(text, 255),
    base64: fromBase64,
    base64url: fromBase64,
    hex: (text) => {
      const out = [];
      for (let i = 0; i + 1 < text.length && /^[0-9a-fA-F]{2}$/.test(text.slice(i, i + 2)); i += 2) out.push(parseInt(text.slice(i, i + 2), 16));
      return out;
    },
    utf16le: (text) => Array.from({ length: 2 * text.length }, (_, i) => text.charCodeAt(i >> 1) >> 8 * (i & 1) & 255),
  };
  const chars = (bytes, mask) => {
    let text = '';
    for (let i = 0; i < bytes.length; i++) text += String.fromCharCode(bytes[i] & mask);
    return text;
  };
  const decoders = {
    utf8: (bytes) => utf8Decode(bytes, false),
    latin1: (bytes) => chars(bytes, 255),
    ascii: (bytes) => chars(bytes, 127),
    base64: (bytes) => toBase64(bytes, false),
    base64url: (bytes) => toBase64(bytes, true),
    hex: (bytes) => {
      let text = '';
      for (let i = 0; i < bytes.length; i++) text += (bytes[i] < 16 ? '0' : '') + bytes[i].toString(16);
      return text;
    },
    utf16le: (bytes) => {
      let text = '';
      for (let i = 0; i + 1 < bytes.length; i += 2) text += String.fromCharCode(bytes[i] | bytes[i + 1] << 8);
      return text;
    },
  };
  const encodingName = (name = 'utf8') => {
    const lower = String(name).toLowerCase();
    const known = { 'utf-8': 'utf8', binary: 'latin1', ucs2: 'utf16le', 'ucs-2': 'utf16le', 'utf-16le': 'utf16le' }[lower] || lower;
    if (!Object.hasOwn(encoders, known)) throw new TypeError('Unknown encoding: ' + name);
    return known;
  };

  class Buffer extends Uint8Array {
    static from(data, encoding, length) {
      if (typeof data === 'string') return new Buffer(encoders[encodingName(encoding)](data));
      if (data instanceof ArrayBuffer || data instanceof SharedArrayBuffer) return new Buffer(data, encoding, length);
      if (data !== null && typeof data === 'object') {
        if (data.type === 'Buffer' && Array.isArray(data.data)) return new Buffer(data.data);
        if (typeof data.length === 'number') return new Buffer(Array.from(data, (b) => b & 255));
      }
      throw new TypeError('The first argument must be of type string or an instance of Buffer, ArrayBuffer, or Array');
    }
    static alloc(size, fill = 0, encoding) {
      const b = new Buffer(size);
      if (typeof fill === 'number') return b.fill(fill);
      const bytes = Buffer.from(fill, encoding);
      for (let i = 0; bytes.length > 0 && i < size; i++) b[i] = bytes[i % bytes.length];
      return b;
    }
    static allocUnsafe(size) { return new Buffer(size); }
    static isBuffer(v) { return v instanceof Buffer; }
    static isEncoding(name) { try { encodingName(name); return true; } catch { return false; } }
    static byteLength(data, encoding) { return typeof data === 'string' ? Buffer.from(data, encoding).length : data.byteLength; }
    static concat(list, size) {
      const total = size === undefined ? list.reduce((n, b) => n + b.length, 0) : size;
      const out = new Buffer(total);
      let at = 0;
      for (const b of list) {
        if (at >= total) break;
        out.set(b.subarray(0, total - at), at);
        at += b.length;
      }
      return out;
    }
    static compare(a, b) { return a.compare(b); }
    toString(encoding, start = 0, end = this.length) {
      return decoders[encodingName(encoding)](start === 0 && end >= this.length ? this : this.subarray(Math.max(start, 0), end));
    }
    toJSON() { return { type: 'Buffer', data: Array.from(this) }; }
    slice(start, end) { return this.subarray(start, end); }
    equals(other) { return this.compare(other) === 0; }
    compare(other) {
      const n = Math.min(this.length, other.length);
      for (let i = 0; i < n; i++) if (this[i] !== other[i]) return this[i] < other[i] ? -1 : 1;
      return Math.sign(this.length - other.length);
    }
  }

  // ---- structuredClone ----
  function structuredClone(value) {
    const seen = new Map();
    const refuse = (what) => {
      const e = new Error(what + ' could not be cloned.');
      e.name = 'DataCloneError';
      return e;
    };
    const clone = (v) => {
      if (typeof v === 'function' || typeof v === 'symbol') throw refuse(String(v));
      if (typeof v !== 'object' || v === null) return v;
      if (seen.has(v)) return seen.get(v);
      const keep = (copy) => { seen.set(v, copy); return copy; };
      if (v instanceof Date) return keep(new Date(v.getTime()));
      if (v instanceof RegExp) return keep(new RegExp(v.source, v.flags));
      if (v instanceof ArrayBuffer) return keep(v.slice(0));
      if (v instanceof DataView) return keep(new DataView(clone(v.buffer), v.byteOffset, v.byteLength));
      if (ArrayBuffer.isView(v)) return keep(v instanceof Buffer ? new Uint8Array(v) : v.slice());
      if (v instanceof Number || v instanceof String || v instanceof Boolean || v instanceof BigInt) return keep(Object(v.valueOf()));
      if (v instanceof Map) {
        const copy = keep(new Map());
        for (const [k, e] of [...v]) copy.set(clone(k), clone(e));
        return copy;
      }
      if (v instanceof Set) {
        const copy = keep(new Set());
        for (const e of [...v]) copy.add(clone(e));
        return copy;
      }
      if (v instanceof Error) {
        const kinds = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };
        const copy = keep(new (kinds[v.name] || Error)(v.message));
        Object.defineProperty(copy, 'stack', { value: v.stack, writable: true, configurable: true });
        if ('cause' in v) copy.cause = clone(v.cause);
        return copy;
      }
      if (v instanceof Promise || v instanceof WeakMap || v instanceof WeakSet) throw refuse('#<' + v.constructor.name + '>');
      const copy = keep(Array.isArray(v) ? new Array(v.length) : {});
      for (const k of Object.keys(v)) Object.defineProperty(copy, k, { value: clone(v[k]), writable: true, enumerable: true, configurable: true });
      return copy;
    };
    return clone(value);
  }

  // ---- timers, in virtual time ----
  let timers = [];
  let now = 0, lastID = 0;
  const start = (callback, delay, args, every) => {
    if (typeof callback !== 'function') throw new TypeError('The "callback" argument must be of type function');
    const ms = Math.min(Math.max(Math.trunc(Number(delay)) || 1, 1), 2 ** 31 - 1);
    timers.push({ id: ++lastID, at: now + ms, every: every ? ms : 0, callback, args });
    return lastID;
  };
  const clearTimeout = (id) => { timers = timers.filter((t) => t.id !== Number(id)); };
  const scheduler = {
    // next runs the timer that is due first and reports whether there was one.
    next() {
      if (timers.length === 0) return false;
      let first = timers[0];
      for (const t of timers) if (t.at < first.at) first = t;
      now = first.at;
      if (first.every > 0) first.at += first.every;
      else timers = timers.filter((t) => t !== first);
      (0, first.callback)(...first.args);
      return true;
    },
    reset() { timers = []; now = 0; lastID = 0; },
  };

  define({
    console: silent,
    TextEncoder, TextDecoder, atob, btoa, Buffer, structuredClone,
    setTimeout: function setTimeout(callback, delay, ...args) { return start(callback, delay, args, false); },
    setInterval: function setInterval(callback, delay, ...args) { return start(callback, delay, args, true); },
    setImmediate: function setImmediate(callback, ...args) { return start(callback, 0, args, false); },
    clearTimeout,
    clearInterval: function clearInterval(id) { clearTimeout(id); },
    clearImmediate: function clearImmediate(id) { clearTimeout(id); },
    queueMicrotask: function queueMicrotask(callback) {
      if (typeof callback !== 'function') throw new TypeError('The "callback" argument must be of type function');
      Promise.resolve().then(() => { callback(); }).catch(() => {});
    },
  });
  return { scheduler, utf8Encode, utf8Decode, define, hidden: [] };
})()
