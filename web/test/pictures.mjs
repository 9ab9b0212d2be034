// Makes the pictures of docs/app.md and of the README: the real pages on the runs of the
// example suites.
//
//   node pictures.mjs [FOLDER]    the default is docs/app of this repository
import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { close, enter, folder, open, proviso, ready, start } from './harness.mjs';
import { now, small } from './look.browser.mjs';

// The suites are outside of this repository, so that no branch of it is in the pictures.
const examples = join(folder, 'suites');
cpSync(new URL('../../examples', import.meta.url).pathname, examples, { recursive: true });
const runs = join(folder, 'examples');

// evaluate runs an example and returns the id of its run. Its exit code is 1, because
// the examples break promises.
async function evaluate(...args) {
  const had = new Set(existing());
  await proviso(['eval', '--run-dir', runs, ...args]).catch((e) => { if (e.code !== 1) throw e; });
  return existing().find((id) => !had.has(id));
}

const existing = () => { try { return readdirSync(runs).filter((n) => /^\d{8}-/.test(n)); } catch { return []; } };

// The example of the gate, before and after its change.
const gate = join(folder, 'gate');
cpSync(join(examples, 'gate'), gate, { recursive: true });
const base = await evaluate('-c', join(gate, 'proviso.yaml'));
cpSync(join(gate, 'change'), gate, { recursive: true });
const head = await evaluate('-c', join(gate, 'proviso.yaml'));
const agent = await evaluate('-c', join(examples, 'agent/proviso.yaml'), '--replay', join(examples, 'agent/tape'));
const refund = await evaluate('-c', join(examples, 'refund/proviso.yaml'));
const support = await evaluate('-c', join(examples, 'support/proviso.yaml'));
const page = join(folder, 'examples.html');
await proviso(['show', join(runs, agent), '-o', page]);

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
  ['assertions', '/assertions', { height: 620 }],
  ['judges', '/judges', { height: 620 }],
  ['prompts', '/prompts', {}],
  ['report', '', {}],
]) {
  const o = await open({ width: 1280, height: 800, timezoneId: 'UTC', locale: 'en-GB', ...options });
  await o.page.clock.setFixedTime(now);
  if (path) await enter(o.page, server, path);
  else { await o.page.goto(pathToFileURL(page).href); await ready(o.page); }
  await o.page.waitForTimeout(400);
  const file = join(into, `${name}.webp`), data = await small(await o.page.screenshot(), 1, 0.85);
  writeFileSync(file, data);
  console.log(`${file} ${(data.length / 1024).toFixed(0)} KB`);
  await o.close();
}
await close();
