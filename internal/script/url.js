// URL and URLSearchParams of the WHATWG URL standard, as far as they need no
// tables: hosts are not mapped by IDNA, so a host outside ASCII is refused.
(function (host) {
  'use strict';
  const { utf8Encode, utf8Decode, define } = host;
  const special = { __proto__: null, 'http:': '80', 'https:': '443', 'ws:': '80', 'wss:': '443', 'ftp:': '21', 'file:': '' };
  const hex = (b) => '%' + (b < 16 ? '0' : '') + b.toString(16).toUpperCase();

  // escape percent-encodes what is not printable ASCII, and the characters of set.
  const escape = (text, set) => {
    let out = '';
    for (const ch of text) {
      const c = ch.codePointAt(0);
      if (c > 0x20 && c < 0x7f && !set.includes(ch)) out += ch;
      else if (c === 0x20 && set === '') out += ' ';
      else for (const b of utf8Encode(ch)) out += hex(b);
    }
    return out;
  };
  const fragmentSet = '"<>`', querySet = '"#<>', specialQuerySet = querySet + "'", pathSet = '"#<>?`{}^', userSet = pathSet + '/:;=@[\\]|';

  const percentDecode = (text) => {
    const bytes = utf8Encode(text);
    const out = [];
    for (let i = 0; i < bytes.length; i++) {
      const pair = bytes[i] === 37 ? String.fromCharCode(bytes[i + 1] || 0, bytes[i + 2] || 0) : '';
      if (/^[0-9a-fA-F]{2}$/.test(pair)) { out.push(parseInt(pair, 16)); i += 2; } else out.push(bytes[i]);
    }
    return utf8Decode(out, false);
  };

  const invalid = (input) => {
    const e = new TypeError('Invalid URL');
    Object.defineProperty(e, 'code', { value: 'ERR_INVALID_URL', enumerable: true, configurable: true, writable: true });
    Object.defineProperty(e, 'input', { value: input, enumerable: true, configurable: true, writable: true });
    return e;
  };

  // ipv4 returns the canonical form of a host whose last label is a number, the
  // host itself if it is a name, or null if it is neither.
  const ipv4 = (host) => {
    const parts = host.split('.');
    if (parts.length > 1 && parts[parts.length - 1] === '') parts.pop();
    if (!/^(\d+|0x[0-9a-f]*)$/.test(parts[parts.length - 1])) return host;
    if (parts.length > 4) return null;
    const numbers = parts.map((p) => /^0x[0-9a-f]*$/.test(p) ? parseInt(p.slice(2) || '0', 16) : /^0[0-7]*$/.test(p) ? parseInt(p, 8) : /^[1-9]\d*$/.test(p) ? Number(p) : NaN);
    const last = numbers.pop();
    if (numbers.some((n) => !(n <= 255)) || !(last < 256 ** (4 - numbers.length))) return null;
    const address = numbers.reduce((sum, n, i) => sum + n * 256 ** (3 - i), last);
    return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
  };

  const ipv6 = (text) => {
    let t = text;
    const v4 = /(^|:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(t);
    if (v4) {
      const n = v4.slice(2).map(Number);
      if (n.some((x) => x > 255)) return null;
      t = t.slice(0, v4.index) + v4[1] + (n[0] * 256 + n[1]).toString(16) + ':' + (n[2] * 256 + n[3]).toString(16);
    }
    const halves = t.split('::');
    if (halves.length > 2) return null;
    const groups = halves.map((h) => h === '' ? [] : h.split(':'));
    const count = groups.reduce((n, g) => n + g.length, 0);
    if (halves.length === 2 ? count > 7 : count !== 8) return null;
    const all = halves.length === 2 ? [...groups[0], ...new Array(8 - count).fill('0'), ...groups[1]] : groups[0];
    if (all.some((g) => !/^[0-9a-f]{1,4}$/i.test(g))) return null;
    const short = all.map((g) => parseInt(g, 16).toString(16));
    let best = -1, length = 1;
    for (let i = 0; i < 8; i++) {
      let j = i;
      while (j < 8 && short[j] === '0') j++;
      if (j - i > length) { best = i; length = j - i; }
      if (j > i) i = j;
    }
    return best < 0 ? short.join(':') : short.slice(0, best).join(':') + '::' + short.slice(best + length).join(':');
  };

  const parseHost = (text, isSpecial) => {
    if (text.startsWith('[')) {
      const address = text.endsWith(']') ? ipv6(text.slice(1, -1)) : null;
      return address === null ? null : '[' + address + ']';
    }
    if (!isSpecial) return /[\0\t\n\r #/<>?@[\\\]^|]/.test(text) ? null : escape(text, '');
    const host = percentDecode(text).toLowerCase();
    if (host === '' || /[^\x21-\x7e]|[#%/:<>?@[\\\]^|]/.test(host)) return null;
    return ipv4(host);
  };

  const shorten = (path, scheme) => {
    if (!(scheme === 'file:' && path.length === 1 && /^[a-z]:$/i.test(path[0]))) path.pop();
  };

  const parsePath = (text, isSpecial, path, scheme) => {
    const segments = (isSpecial ? text.replace(/\\/g, '/') : text).split('/');
    segments.forEach((segment, i) => {
      const last = i === segments.length - 1;
      const plain = segment.replace(/%2e/gi, '.');
      if (plain === '..') {
        shorten(path, scheme);
        if (last) path.push('');
      } else if (plain === '.') {
        if (last) path.push('');
      } else path.push(escape(segment, pathSet));
    });
    return path;
  };

  const parseAuthority = (u, text, isSpecial) => {
    const at = text.lastIndexOf('@');
    if (at >= 0) {
      const user = text.slice(0, at);
      const colon = user.indexOf(':');
      u.username = escape(colon < 0 ? user : user.slice(0, colon), userSet);
      u.password = colon < 0 ? '' : escape(user.slice(colon + 1), userSet);
    }
    const host = text.slice(at + 1);
    const port = /:(\d*)$/.exec(host);
    u.host = parseHost(port ? host.slice(0, port.index) : host, isSpecial);
    if (u.host === null || (port && Number(port[1]) > 65535)) return false;
    u.port = port && port[1] !== '' ? String(Number(port[1])) : '';
    if (u.port === special[u.scheme]) u.port = '';
    return !(isSpecial && u.host === '');
  };

  const splitTail = (u, text) => {
    let rest = text;
    const hash = rest.indexOf('#');
    if (hash >= 0) {
      u.fragment = escape(rest.slice(hash + 1), fragmentSet);
      rest = rest.slice(0, hash);
    }
    const mark = rest.indexOf('?');
    if (mark >= 0) {
      u.query = escape(rest.slice(mark + 1), u.scheme in special ? specialQuerySet : querySet);
      rest = rest.slice(0, mark);
    }
    return rest;
  };

  const relative = (u, rest, text, base) => {
    u.scheme = base.scheme;
    const tail = splitTail(u, text.replace(/^[^?#]*/, ''));
    if (base.opaque !== undefined) {
      if (rest !== '' || u.query !== null || tail !== '') return false;
      return Object.assign(u, { opaque: base.opaque, query: base.query }) !== null;
    }
    const isSpecial = u.scheme in special;
    const path = isSpecial ? rest.replace(/\\/g, '/') : rest;
    if (path.startsWith('//')) return withAuthority(u, path.slice(2), isSpecial);
    Object.assign(u, { username: base.username, password: base.password, host: base.host, port: base.port });
    if (path === '') {
      u.path = base.path.slice();
      if (u.query === null) u.query = base.query;
    } else if (path.startsWith('/')) u.path = parsePath(path.slice(1), isSpecial, [], u.scheme);
    else {
      u.path = base.path.slice();
      shorten(u.path, u.scheme);
      parsePath(path, isSpecial, u.path, u.scheme);
    }
    return true;
  };

  const withAuthority = (u, text, isSpecial) => {
    const end = text.search(isSpecial ? /[/\\]/ : /\//);
    const authority = end < 0 ? text : text.slice(0, end);
    const path = end < 0 ? '' : text.slice(end + 1);
    if (u.scheme === 'file:') {
      u.host = authority === '' || authority.toLowerCase() === 'localhost' ? '' : parseHost(authority, true);
      if (u.host === null) return false;
    } else if (!parseAuthority(u, authority, isSpecial)) return false;
    u.path = end < 0 && !isSpecial ? [] : parsePath(path, isSpecial, [], u.scheme);
    return true;
  };

  const parse = (input, base) => {
    const text = input.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '').replace(/[\t\n\r]/g, '');
    const u = { scheme: '', username: '', password: '', host: null, port: '', path: [], query: null, fragment: null, opaque: undefined };
    const match = /^([a-z][a-z0-9+.-]*):/i.exec(text);
    const scheme = match ? match[1].toLowerCase() + ':' : '';
    if (!match || (base && scheme === base.scheme && scheme in special && !/^[/\\]/.test(text.slice(match[0].length)))) {
      if (!base) return null;
      const rest = match ? text.slice(match[0].length) : text;
      return relative(u, rest.replace(/[?#].*$/s, ''), rest, base) ? u : null;
    }
    u.scheme = scheme;
    const isSpecial = scheme in special;
    const rest = splitTail(u, text.slice(match[0].length));
    if (isSpecial && scheme !== 'file:') return withAuthority(u, rest.replace(/^[/\\]*/, ''), true) ? u : null;
    if (scheme === 'file:') {
      const slashed = rest.replace(/\\/g, '/');
      if (slashed.startsWith('//')) return withAuthority(u, slashed.slice(2), true) ? u : null;
      u.host = '';
      u.path = parsePath(slashed.replace(/^\//, ''), true, [], scheme);
      return u;
    }
    if (rest.startsWith('//')) return withAuthority(u, rest.slice(2), false) ? u : null;
    if (rest.startsWith('/')) u.path = parsePath(rest.slice(1), false, [], scheme);
    else u.opaque = escape(rest, '');
    return u;
  };

  const pathOf = (u) => u.opaque !== undefined ? u.opaque : u.path.length === 0 && !(u.scheme in special) ? '' : '/' + u.path.join('/');
  const hostOf = (u) => u.host === null ? '' : u.port === '' ? u.host : u.host + ':' + u.port;
  const serialize = (u) => {
    let s = u.scheme;
    if (u.host !== null) {
      s += '//';
      if (u.username !== '' || u.password !== '') s += u.username + (u.password === '' ? '' : ':' + u.password) + '@';
      s += hostOf(u);
    } else if (u.opaque === undefined && u.path.length > 1 && u.path[0] === '') s += '/.';
    return s + pathOf(u) + (u.query === null ? '' : '?' + u.query) + (u.fragment === null ? '' : '#' + u.fragment);
  };

  // ---- URLSearchParams ----
  const formDecode = (text) => percentDecode(text.replace(/\+/g, ' '));
  const formEncode = (text) => {
    let out = '';
    for (const b of utf8Encode(text)) {
      const ch = String.fromCharCode(b);
      out += b === 32 ? '+' : /[A-Za-z0-9*._-]/.test(ch) ? ch : hex(b);
    }
    return out;
  };
  const formParse = (text) => text.split('&').filter((p) => p !== '').map((p) => {
    const eq = p.indexOf('=');
    return eq < 0 ? [formDecode(p), ''] : [formDecode(p.slice(0, eq)), formDecode(p.slice(eq + 1))];
  });
  let changed; // tells the URL of a URLSearchParams that its query changed

  class URLSearchParams {
    #pairs = [];
    #owner = null;
    static {
      changed = (params, pairs, owner) => { params.#pairs = pairs; params.#owner = owner; };
    }
    constructor(init = '') {
      if (typeof init === 'object' && init !== null) {
        if (typeof init[Symbol.iterator] === 'function') {
          for (const pair of init) {
            const entry = [...pair];
            if (entry.length !== 2) throw new TypeError('Each query pair must be an iterable [name, value] tuple');
            this.#pairs.push([String(entry[0]), String(entry[1])]);
          }
        } else for (const k of Object.keys(init)) this.#pairs.push([k, String(init[k])]);
      } else this.#pairs = formParse(String(init).replace(/^\?/, ''));
    }
    #update() { if (this.#owner !== null) this.#owner(this.toString()); }
    append(name, value) { this.#pairs.push([String(name), String(value)]); this.#update(); }
    delete(name, value) {
      this.#pairs = this.#pairs.filter(([k, v]) => k !== String(name) || (value !== undefined && v !== String(value)));
      this.#update();
    }
    get(name) { const p = this.#pairs.find(([k]) => k === String(name)); return p ? p[1] : null; }
    getAll(name) { return this.#pairs.filter(([k]) => k === String(name)).map(([, v]) => v); }
    has(name, value) { return this.#pairs.some(([k, v]) => k === String(name) && (value === undefined || v === String(value))); }
    set(name, value) {
      const first = this.#pairs.find(([k]) => k === String(name));
      if (!first) { this.append(name, value); return; }
      first[1] = String(value);
      this.#pairs = this.#pairs.filter((p) => p === first || p[0] !== String(name));
      this.#update();
    }
    sort() { this.#pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)); this.#update(); }
    forEach(f, self) { for (const [k, v] of this.#pairs) f.call(self, v, k, this); }
    * entries() { for (const [k, v] of this.#pairs) yield [k, v]; }
    * keys() { for (const [k] of this.#pairs) yield k; }
    * values() { for (const [, v] of this.#pairs) yield v; }
    get size() { return this.#pairs.length; }
    toString() { return this.#pairs.map(([k, v]) => formEncode(k) + '=' + formEncode(v)).join('&'); }
  }
  Object.defineProperty(URLSearchParams.prototype, Symbol.iterator, { value: URLSearchParams.prototype.entries, writable: true, configurable: true });

  // ---- URL ----
  class URL {
    #u;
    #params = null;
    constructor(input, base) {
      const b = base === undefined ? null : parse(String(base), null);
      if (base !== undefined && b === null) throw invalid(String(input));
      this.#u = parse(String(input), b);
      if (this.#u === null) throw invalid(String(input));
    }
    static canParse(input, base) { try { return Boolean(new URL(input, base)); } catch { return false; } }
    static parse(input, base) { try { return new URL(input, base); } catch { return null; } }
    #setQuery(q) { this.#u.query = q === '' ? null : q; }
    #refresh() { if (this.#params) changed(this.#params, formParse(this.#u.query || ''), (q) => this.#setQuery(q)); }
    get href() { return serialize(this.#u); }
    set href(v) {
      const u = parse(String(v), null);
      if (u === null) throw invalid(String(v));
      this.#u = u;
      this.#refresh();
    }
    get origin() {
      const { scheme } = this.#u;
      return scheme in special && scheme !== 'file:' ? scheme + '//' + hostOf(this.#u) : 'null';
    }
    get protocol() { return this.#u.scheme; }
    set protocol(v) {
      const m = /^([a-z][a-z0-9+.-]*):?/i.exec(String(v));
      if (m && (m[1].toLowerCase() + ':' in special) === (this.#u.scheme in special)) this.#u.scheme = m[1].toLowerCase() + ':';
      if (this.#u.port === special[this.#u.scheme]) this.#u.port = '';
    }
    get username() { return this.#u.username; }
    set username(v) { if (this.#u.host) this.#u.username = escape(String(v), userSet); }
    get password() { return this.#u.password; }
    set password(v) { if (this.#u.host) this.#u.password = escape(String(v), userSet); }
    get host() { return hostOf(this.#u); }
    set host(v) {
      if (this.#u.opaque !== undefined) return;
      const m = /^(\[[^\]]*\]|[^:/?#\\]*)(?::(\d*))?/.exec(String(v));
      this.hostname = m[1];
      if (m[2]) this.port = m[2];
    }
    get hostname() { return this.#u.host === null ? '' : this.#u.host; }
    set hostname(v) {
      if (this.#u.opaque !== undefined) return;
      const host = parseHost(String(v).replace(/[/?#].*$/s, ''), this.#u.scheme in special);
      if (host !== null) this.#u.host = host;
    }
    get port() { return this.#u.port; }
    set port(v) {
      const m = /^\d*/.exec(String(v))[0];
      if (!this.#u.host || (m === '' && String(v) !== '') || Number(m) > 65535) return;
      this.#u.port = m === '' || String(Number(m)) === special[this.#u.scheme] ? '' : String(Number(m));
    }
    get pathname() { return pathOf(this.#u); }
    set pathname(v) {
      if (this.#u.opaque !== undefined) return;
      const isSpecial = this.#u.scheme in special;
      this.#u.path = parsePath(String(v).replace(isSpecial ? /^[/\\]/ : /^\//, ''), isSpecial, [], this.#u.scheme);
    }
    get search() { return this.#u.query ? '?' + this.#u.query : ''; }
    set search(v) {
      const q = String(v).replace(/^\?/, '');
      this.#setQuery(escape(q, this.#u.scheme in special ? specialQuerySet : querySet));
      this.#refresh();
    }
    get searchParams() {
      if (!this.#params) {
        this.#params = new URLSearchParams();
        this.#refresh();
      }
      return this.#params;
    }
    get hash() { return this.#u.fragment ? '#' + this.#u.fragment : ''; }
    set hash(v) {
      const f = String(v).replace(/^#/, '');
      this.#u.fragment = f === '' ? null : escape(f, fragmentSet);
    }
    toString() { return this.href; }
    toJSON() { return this.href; }
  }

  define({ URL, URLSearchParams });
  host.hidden.push(new URLSearchParams().entries()); // only a call leads to it
})
