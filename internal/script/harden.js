// Makes everything immutable that outlives a call, as SES (hardened JavaScript)
// does: every object reachable from the global object and from syntax is frozen,
// and the global bindings are fixed. It evaluates to a function that may be
// given a list of further objects to freeze.
(function (more) {
  'use strict';
  const { defineProperty, freeze, getOwnPropertyDescriptor, getPrototypeOf, hasOwn } = Object;
  const { ownKeys } = Reflect;
  const global = globalThis;
  const TypeErrorHere = TypeError;

  // Callbacks of these run whenever the collector likes: in someone else's call.
  delete global.FinalizationRegistry;
  delete global.WeakRef;

  // A frozen property of a prototype cannot be shadowed by assignment, so that
  // err.name = 'x' or counts.toString = 1 would be lost. As accessors, these
  // properties read the same and define an own property when assigned to.
  function enable(object, key) {
    const d = getOwnPropertyDescriptor(object, key);
    if (!d || !d.configurable || !('value' in d)) return;
    const { value, enumerable } = d;
    defineProperty(object, key, {
      get() { return value; },
      set(v) {
        if (this === null || (typeof this !== 'object' && typeof this !== 'function')) return;
        if (this === object) throw new TypeErrorHere('Cannot assign to a built-in object');
        if (hasOwn(this, key)) this[key] = v;
        else defineProperty(this, key, { value: v, writable: true, enumerable: true, configurable: true });
      },
      enumerable,
      configurable: false,
    });
  }

  function enableOverrides() {
    for (const key of ownKeys(Object.prototype)) if (key !== '__proto__') enable(Object.prototype, key);
    for (const name of ownKeys(global)) {
      const f = getOwnPropertyDescriptor(global, name).value;
      if (typeof f !== 'function' || typeof f.prototype !== 'object' || f.prototype === null) continue;
      const keys = f === Error || f.prototype instanceof Error ? ownKeys(f.prototype) : ['constructor', 'toString', 'valueOf', 'toJSON'];
      for (const key of keys) enable(f.prototype, key);
    }
    for (const key of ['constructor', 'toString', 'apply', 'bind', 'call']) enable(Function.prototype, key);
  }

  // hidden are the built-in objects that only syntax leads to.
  function hidden() {
    const iterate = (o) => getPrototypeOf(o[Symbol.iterator]());
    const list = [
      function () {}, function* () {}, async function () {}, async function* () {}, (function* () {})(), (async function* () {})(),
      iterate([]), iterate(''), iterate(new Map()), iterate(new Set()), 'a'.matchAll(/a/g), new Uint8Array(0),
      getOwnPropertyDescriptor((function () { return arguments; })(), 'callee').value,
      getOwnPropertyDescriptor((function () { 'use strict'; return arguments; })(), 'callee').get,
    ];
    if (typeof Iterator === 'function') list.push(Iterator.from({ next() {} }), [].values().map((x) => x));
    return list;
  }

  function harden(roots) {
    const seen = new Set();
    const queue = [];
    const add = (v) => {
      if (v === null || (typeof v !== 'object' && typeof v !== 'function') || seen.has(v)) return;
      seen.add(v);
      queue.push(v);
    };
    roots.forEach(add);
    for (let i = 0; i < queue.length; i++) {
      const object = queue[i];
      if (object !== global) freeze(object);
      const keys = ownKeys(object);
      if (typeof object === 'function' && keys.length === 2) continue; // name and length; most are that
      add(getPrototypeOf(object));
      for (const key of keys) {
        const d = getOwnPropertyDescriptor(object, key);
        add(d.value);
        add(d.get);
        add(d.set);
      }
    }
  }

  enableOverrides();
  harden([global, ...hidden(), ...(more || [])]);
  for (const key of ownKeys(global)) {
    const d = getOwnPropertyDescriptor(global, key);
    if (d.configurable) defineProperty(global, key, { configurable: false, ...('value' in d ? { writable: false } : {}) });
  }
})
