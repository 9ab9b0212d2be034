// Makes the pictures of docs/app.md and of the README: the real pages on the runs of the
// example suites.
//
//   node pictures.mjs [FOLDER]    the default is docs/app of this repository
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { close, enter, folder, open, proviso, start } from './harness.mjs';
import { now, small } from './look.browser.mjs';

// The suites are outside of this repository, so that no branch of it is in the pictures.
const examples = join(folder, 'suites');
cpSync(new URL('../../examples', import.meta.url).pathname, examples, { recursive: true });
const runs = join(folder, 'examples');

// evaluate runs an example and returns the id of its run. Its exit code is 1, because
// the examples break promises. Ids, times and durations are fixed, so that the same
// examples give the same pictures.
let day = 2;
async function evaluate(...args) {
  await proviso(['eval', '--run-dir', folder, ...args]).catch((e) => { if (e.code !== 1) throw e; });
  const made = existing(folder)[0], started = new Date(Date.UTC(2026, 10, day++, 9, 30));
  const id = started.toISOString().slice(0, 10).replaceAll('-', '') + '-093000-k3x9';
  const lines = readFileSync(join(folder, made, 'run.jsonl'), 'utf8').replaceAll(made, id).split('\n');
  lines[0] = JSON.stringify({ ...JSON.parse(lines[0]), started: started.toISOString() });
  const text = lines.join('\n').replace(/"elapsedMs":[\d.]+/, '"elapsedMs":4200');
  rmSync(join(folder, made), { recursive: true });
  mkdirSync(join(runs, id), { recursive: true });
  writeFileSync(join(runs, id, 'run.jsonl'), text, { mode: 0o600 });
  utimesSync(join(runs, id), started, started); // lists show the newest folder first
  return id;
}

const existing = (at) => readdirSync(at).filter((n) => /^\d{8}-/.test(n));

// The example of the gate, before and after its change.
const gate = join(folder, 'gate');
cpSync(join(examples, 'gate'), gate, { recursive: true });
const base = await evaluate('-c', join(gate, 'proviso.yaml'));
cpSync(join(gate, 'change'), gate, { recursive: true });
const head = await evaluate('-c', join(gate, 'proviso.yaml'));
const agent = await evaluate('-c', join(examples, 'agent/proviso.yaml'), '--replay', join(examples, 'agent/tape'));
const refund = await evaluate('-c', join(examples, 'refund/proviso.yaml'));
const support = await evaluate('-c', join(examples, 'support/proviso.yaml'));

const into = process.argv[2] ?? new URL('../../docs/app', import.meta.url).pathname;
mkdirSync(into, { recursive: true });
const server = await start(['view', runs, '--addr', '127.0.0.1:0', '--no-open']);
for (const [name, path, options] of [
  ['runs', '/runs', { height: 560 }],
  ['run', `/runs/${support}`, {}],
  ['run-dark', `/runs/${support}`, { theme: 'dark' }],
  ['case', `/runs/${agent}`, {}],
  ['compare', `/compare?base=${base}&head=${head}`, {}],
  ['refund', `/runs/${refund}`, {}],
]) {
  const o = await open({ width: 1280, height: 800, timezoneId: 'UTC', locale: 'en-GB', ...options });
  await o.page.clock.setFixedTime(now);
  await enter(o.page, server, path);
  await o.page.waitForTimeout(800);
  const file = join(into, `${name}.webp`), data = await small(await o.page.screenshot(), 1, 0.85);
  writeFileSync(file, data);
  console.log(`${file} ${(data.length / 1024).toFixed(0)} KB`);
  await o.close();
}
await close();
