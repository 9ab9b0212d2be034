import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const { promptNames, columnNames } = await load('src/run/names.ts');
const { groups } = await load('src/run/assertion.tsx');
const { move } = await load('src/run/move.ts');

test('prompts that begin alike are shown from where they differ, at the beginning of a word', () => {
  const shared = 'You are a support agent of a shop. Be polite, and brief. ';
  assert.deepEqual(promptNames([shared + 'Offer refunds.', shared + 'Offer vouchers.']), ['… refunds.', '… vouchers.']);
  assert.deepEqual(promptNames(['Say hello', 'Say goodbye']), ['Say hello', 'Say goodbye']);
  assert.deepEqual(promptNames([shared, shared]), Array(2).fill('You are a support agent of a shop. Be polite, an…'));
});

test('columns with the same prompt are named by their providers', () => {
  const names = columnNames([{ prompt: 'Hello', provider: 'a:1' }, { prompt: 'Hello', provider: 'b:2' }]);
  assert.deepEqual(names.map((n) => [n.title, n.under]), [['a:1', 'Hello'], ['b:2', 'Hello']]);
});

test('names show characters that would turn the text around as escapes', () => {
  assert.equal(promptNames(['a\u202eb'])[0], 'a\\u202eb');
});

test('assertions that failed come first, then errors; parts stay with their set', () => {
  const a = (name, status, level) => ({ name, type: 'x', status, reason: '', ...(level ? { level } : {}) });
  const sorted = groups([a('one', 'pass'), a('set', 'error'), a('part', 'pass', 1), a('two', 'fail'), { ...a('judged', 'fail'), evidence: [{ quote: 'x' }] }, a('three', 'skip')]);
  assert.deepEqual(sorted.map((g) => [g.head.name, ...g.parts.map((p) => p.name)]), [['judged'], ['two'], ['set', 'part'], ['one'], ['three']]);
});

test('keys move inside the grid, and up into the heads', () => {
  const from = (key, row, column, ctrl = false) => move(key, ctrl, row, column, 100, 3, 10);
  assert.deepEqual(from('ArrowUp', 0, 1), [-1, 1]);
  assert.deepEqual(from('ArrowUp', -1, 1), [-1, 1]);
  assert.deepEqual(from('ArrowDown', 99, 1), [99, 1]);
  assert.deepEqual(from('ArrowRight', 5, 2), [5, 2]);
  assert.deepEqual(from('PageDown', 95, 0), [99, 0]);
  assert.deepEqual(from('PageUp', 4, 0), [0, 0]);
  assert.deepEqual(from('End', 4, 0, true), [99, 2]);
  assert.equal(from('x', 4, 0), undefined);
});
