import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const { wordDiff } = await load('src/pages/diff.ts');

// common is the length of the longest common subsequence of two texts of single letters.
function common(a, b) {
  const t = Array.from({ length: a.length + 1 }, () => new Array(b.length + 1).fill(0));
  for (let i = 1; i <= a.length; i++) for (let j = 1; j <= b.length; j++) t[i][j] = a[i - 1] === b[j - 1] ? t[i - 1][j - 1] + 1 : Math.max(t[i - 1][j], t[i][j - 1]);
  return t[a.length][b.length];
}

test('a difference holds both texts, and is the shortest one', () => {
  let seed = 1;
  const next = (n) => { seed = (seed * 1664525 + 1013904223) >>> 0; return Math.floor((seed / 2 ** 32) * n); };
  for (let i = 0; i < 500; i++) {
    const text = () => Array.from({ length: next(14) }, () => 'abcd'[next(4)]).join('.');
    const a = text(), b = text(), parts = wordDiff(a, b);
    const without = (kind) => parts.filter((p) => p.kind !== kind).map((p) => p.text).join('');
    assert.equal(without('actual'), a);
    assert.equal(without('expected'), b);
    assert.equal(parts.filter((p) => p.kind === 'same').map((p) => p.text).join('').length, common(a, b), a + ' | ' + b);
  }
});

test('words differ as a whole, and letters of all scripts are words', () => {
  assert.deepEqual(wordDiff('Grüße an Jürgen', 'Grüße an Jürgens'), [{ kind: 'same', text: 'Grüße an ' }, { kind: 'expected', text: 'Jürgen' }, { kind: 'actual', text: 'Jürgens' }]);
});

test('texts that are too long or too different have no difference', () => {
  const words = (letter) => Array.from({ length: 5000 }, (_, i) => letter + i).join(' ');
  assert.equal(wordDiff(words('a'), words('b')), undefined);
  assert.equal(wordDiff('a '.repeat(30_000), 'b'), undefined);
});
