import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { load } from './bundle.mjs';

const { Previews } = await load('src/run/previews.ts');
const settled = () => new Promise((done) => setImmediate(done));

// source answers when it is told to, and remembers what it was asked.
function source() {
  const asked = [];
  return { asked, previews: (rows, signal) => new Promise((resolve, reject) => asked.push({ rows, signal, reject, reply: () => resolve(rows.map((index) => ({ index, output: 'o' + index }))) })) };
}

test('a window is one request, once scrolling rests, and what is known is not asked again', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  let changed = 0;
  const s = source(), p = new Previews(s, () => changed++);
  p.want('matrix', [1, 2]);
  p.want('matrix', [2, 3, -1]);
  mock.timers.tick(100);
  assert.deepEqual(s.asked.map((a) => a.rows), [[2, 3]]);
  s.asked[0].reply();
  await settled();
  assert.deepEqual([p.get(2).output, p.get(1), changed, p.version], ['o2', undefined, 1, 1]);
  p.want('matrix', [2, 3, 4]);
  mock.timers.tick(100);
  assert.deepEqual(s.asked[1].rows, [4]);
  mock.timers.reset();
});

test('a request for rows that are gone is aborted, and one that failed is made again', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const s = source(), p = new Previews(s, () => {});
  p.want('matrix', [1]);
  mock.timers.tick(100);
  p.want('matrix', [9]);
  mock.timers.tick(100);
  assert.equal(s.asked[0].signal.aborted, true);
  s.asked[0].reply();
  s.asked[1].reject(new Error('gone'));
  await settled();
  assert.equal(p.get(1), undefined);
  p.want('matrix', [9]);
  mock.timers.tick(100);
  assert.deepEqual(s.asked[2].rows, [9]);
  mock.timers.reset();
});

test('the rows of all parts of the view are one request', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const s = source(), p = new Previews(s, () => {});
  p.want('case', [1, 2]);
  p.want('matrix', [2, 3]);
  mock.timers.tick(100);
  assert.deepEqual(s.asked.map((a) => a.rows), [[1, 2, 3]]);
  p.want('case', []);
  mock.timers.tick(100);
  assert.deepEqual(s.asked[1].rows, [2, 3]);
  mock.timers.reset();
});

test('at most 400 rows are asked for at once', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const s = source(), p = new Previews(s, () => {});
  p.want('matrix', Array.from({ length: 1000 }, (_, i) => i));
  mock.timers.tick(100);
  assert.equal(s.asked[0].rows.length, 400);
  mock.timers.reset();
});
