import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const { eventsOf } = await load('src/panel/events.ts'), { quotesOf } = await load('src/panel/evidence.ts');

// read reads a stream that comes in parts of a size, in bytes.
async function read(text, size) {
  const bytes = new TextEncoder().encode(text), out = [];
  let at = 0;
  const body = new ReadableStream({ pull(c) { if (at < bytes.length) c.enqueue(bytes.slice(at, at += size)); else c.close(); } });
  for await (const e of eventsOf(body)) out.push(e);
  return out;
}

test('events are the same, however the stream is cut', async () => {
  const text = 'retry: 2000\n\n: beat\n\nid: 0\nevent: start\ndata: {"a":"👋 é"}\n\nid:7\r\nevent:verdict\r\ndata: one\r\ndata:two\r\nother: x\r\n\r\ndata\n\nevent: unfinished\ndata: never';
  const whole = await read(text, 1 << 20);
  assert.deepEqual(whole, [{ name: 'start', id: '0', data: '{"a":"👋 é"}' }, { name: 'verdict', id: '7', data: 'one\ntwo' }, { name: '', id: '', data: '' }]);
  for (const size of [1, 2, 3, 5, 7, 64]) assert.deepEqual(await read(text, size), whole, `parts of ${size}`);
});

test('an event of 10 MB is read, and one without an end is refused', async () => {
  const data = 'x'.repeat(10 << 20);
  assert.equal((await read(`event: verdict\ndata: ${data}\n\n`, 1 << 14))[0].data.length, data.length);
  await assert.rejects(read('data: ' + 'x'.repeat(33 << 20), 1 << 20), /too large/);
});

test('a quote is found to the character, or not at all', () => {
  const output = 'ab 👋🏽 ab';
  const of = (result, most = 8) => quotesOf(result, output, most);
  const at = (...list) => list.map(([text, start]) => ({ text, start, end: start + text.length }));
  const cases = [
    [{ evidence: ['ab'] }, at(['ab', 0])],
    [{ evidence: ['ab'], marks: [{ quote: 'ab', start: 8, end: 10 }, { quote: 'ab', start: 0, end: 2 }] }, at(['ab', 8], ['ab', 0])],
    [{ evidence: ['👋🏽'], marks: [{ quote: '👋🏽', start: 0, end: 4 }] }, at(['👋🏽', 3])],
    [{ evidence: ['AB', 'a b', 'ab\u200b'] }, at(['AB', -1], ['a b', -1], ['ab\u200b', -1])],
    [{ marks: [{ quote: 'ab', start: -3, end: 2 }, { quote: 'ab', start: 0.5, end: 2 }, { quote: 'ab', start: '0', end: 2 }, { quote: 'ab', start: 1e9, end: 2 }] }, at(['ab', 0])],
    [{ marks: [{ quote: 'not there', start: 0, end: 9 }, null, { start: 1 }, 5], evidence: ['', null, 7] }, at(['not there', -1])],
    [{ evidence: 'ab', marks: 'ab' }, []],
    [{}, []],
  ];
  for (const [result, want] of cases) assert.deepEqual(of(result).quotes, want, JSON.stringify(result));
  assert.deepEqual(of({ evidence: Array.from({ length: 100 }, (_, i) => 'q' + i) }, 3), { quotes: at(['q0', -1], ['q1', -1], ['q2', -1]).map((q, i) => ({ ...q, end: 1 })), total: 100 });
});
