// Runs the browser tests: one Chromium for all of them, two tests at a time.
//
//   node run.mjs            the smoke set
//   node run.mjs all        everything but measurements of time
//   node run.mjs bench      measurements of time, as a table
//   node run.mjs all axe    tests whose names contain "axe"
//   UPDATE=1 node run.mjs all look    writes the reference pictures anew
import { readdirSync } from 'node:fs';
import { close } from './harness.mjs';
import { tests } from './tests.mjs';

const [set = 'smoke', pattern = ''] = process.argv.slice(2);
if (!['smoke', 'all', 'bench'].includes(set)) throw new Error(`expected smoke, all or bench, got ${set}`);
for (const name of readdirSync(new URL('.', import.meta.url)).filter((n) => n.endsWith('.browser.mjs')).sort()) {
  await import(`./${name}`);
}
const chosen = tests.filter((t) => (set === 'bench' ? t.bench : !t.bench && (set === 'all' || t.smoke)) && t.name.includes(pattern));
const failed = [], times = [];
let skipped = 0;
const started = Date.now();

async function one(t) {
  const from = Date.now(), ms = () => `${((Date.now() - from) / 1000).toFixed(1)} s`;
  let timer;
  try {
    const note = await Promise.race([t.run(), new Promise((_, reject) => { timer = setTimeout(() => reject(new Error(`took more than ${t.timeout / 1000} s`)), t.timeout); })]);
    if (note?.skip) skipped++;
    console.log(note?.skip ? `skip ${t.name}: ${note.skip}` : `ok   ${t.name} (${ms()})`);
  } catch (error) {
    failed.push(t.name);
    console.log(`FAIL ${t.name} (${ms()})\n     ${String(error?.stack ?? error).split('\n').filter((l) => !l.includes('node:internal')).join('\n     ')}`);
  } finally {
    clearTimeout(timer);
    times.push([Date.now() - from, t.name]);
  }
}

const queue = [...chosen];
await Promise.all((set === 'bench' ? [0] : [0, 1]).map(async () => { for (let t; (t = queue.shift());) await one(t); }));
await close();
if (chosen.length > 20) console.log(`slowest: ${times.sort((a, b) => b[0] - a[0]).slice(0, 8).map(([ms, name]) => `${name} ${(ms / 1000).toFixed(1)} s`).join(', ')}`);
console.log(`${chosen.length - failed.length - skipped} passed, ${failed.length} failed, ${skipped} skipped in ${((Date.now() - started) / 1000).toFixed(0)} s`);
if (chosen.length === 0) { console.log('no test has that name'); process.exit(2); }
process.exit(failed.length ? 1 : 0);
