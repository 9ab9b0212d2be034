import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { load } from './bundle.mjs';
import { start } from './fakeserver.mjs';

const { server, url } = await start();
after(() => { server.closeAllConnections(); server.close(); });
const asked = [];
const real = globalThis.fetch;
globalThis.fetch = (path, init) => { asked.push(path); return real(url + path, init); };
globalThis.window = globalThis;
const { HttpSource } = await load('src/http.ts');
const { items } = await (await fetch('/v1/runs?limit=3')).json();
const [going, ended] = items;

test('a run that has ended is asked for once, and opens no stream', async () => {
  const source = new HttpSource(ended.id);
  assert.equal((await source.run()).id, ended.id);
  await source.run();
  source.watch(() => assert.fail('it has ended'))();
  assert.equal(asked.filter((p) => p.startsWith('/v1/runs/' + ended.id)).join(), '/v1/runs/' + ended.id + '?results=no');
  assert.equal(asked.some((p) => p === '/v1/runs/' + ended.id + '/events'), false);
});

test('watchers share a stream, and hear of the end', async () => {
  const source = new HttpSource(going.id);
  assert.equal((await source.run()).status, 'running');
  const calls = [0, 0], done = deferred();
  const ends = calls.map((_, i) => source.watch(async () => {
    calls[i]++;
    if ((await source.run()).status !== 'running') done.resolve();
    else if (i === 0) await fetch('/_finish');
  }));
  await done.promise;
  ends.forEach((end) => end());
  assert.equal(asked.filter((p) => p.endsWith('/events')).length, 1);
  assert.ok(calls[0] >= 2 && calls[1] >= 1, String(calls));
});

test('a run that is not there is a failure with what the server says', async () => {
  await assert.rejects(new HttpSource('none').run(), (e) => e.problem.status === 404);
});

function deferred() {
  const d = {};
  d.promise = new Promise((resolve) => { d.resolve = resolve; });
  return d;
}
