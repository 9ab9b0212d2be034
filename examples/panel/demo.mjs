// Starts proviso and a host of the panel beside it, on this machine: no key of a model and
// no network, because the exchange with the judge is recorded (examples/agent/tape).
//
//   node examples/panel/demo.mjs [PROVISO]           until Ctrl-C; PORT chooses the port (8090)
//   node examples/panel/demo.mjs --check [PROVISO]   looks at every page once, and ends
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { start } from './host.mjs';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const args = process.argv.slice(2), check = args[0] === '--check';
const program = args[check ? 1 : 0] ?? at('../../proviso');

if (!existsSync(at('../../web/node_modules/react'))) {
  console.error('demo-panel: the packages of web are needed for the page of React: (cd web && npm ci --ignore-scripts)');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'proviso-panel-')), db = join(folder, 'proviso.db');
const host = await start({ port: check ? 0 : Number(process.env.PORT ?? 8090) }).catch((e) => {
  console.error(`demo-panel: ${e.message}; PORT chooses another port`);
  process.exit(2);
});
let server;
const end = async (code) => {
  server?.kill();
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
  process.exit(code);
};
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => void end(0));

try {
  const created = await promisify(execFile)(program, ['key', 'create', 'host', '--db', db, '--scope', 'evaluate']);
  const key = /pvk_\S+/.exec(created.stdout)[0];
  server = spawn(program, ['serve', '--addr', '127.0.0.1:0', '--db', db, '--replay', at('../agent/tape'), '--panel-origin', host.origin], { stdio: ['ignore', 'ignore', 'pipe'] });
  const address = await new Promise((resolve, reject) => {
    let said = '';
    server.stderr.on('data', (data) => {
      said = (said + data).slice(-4096);
      const found = /http:\/\/[\d.:]+/.exec(said);
      if (found) resolve(found[0]);
    });
    server.on('exit', () => reject(new Error('proviso serve ended: ' + said)));
  });
  host.proviso(address, key);
  if (!check) console.log(`Open ${host.origin}/ in a browser. Ctrl-C ends it.`);
  else {
    await looked(host.origin, address, key);
    await end(0);
  }
} catch (e) {
  console.error('demo-panel: ' + e.message);
  await end(1);
}

// looked fetches every page and what it loads, and judges an answer as the pages do. The
// key must be in none of it.
async function looked(origin, proviso, key) {
  let cookie = '';
  const get = async (url, init = {}) => {
    const reply = await fetch(url, { ...init, headers: { Cookie: cookie, Origin: origin, ...init.headers } });
    cookie ||= reply.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${url}: ${reply.status} ${text.slice(0, 300)}`);
    if (text.includes(key)) throw new Error(`${url} shows the key`);
    return text;
  };
  const post = async (path, body = {}) => JSON.parse(await get(origin + path, { method: 'POST', body: JSON.stringify(body) }));
  for (const page of ['', 'plain.html', 'fed.html', 'react.html', 'strict.html', 'hostile.html', 'edit.html']) {
    const text = await get(`${origin}/${page}`);
    for (const [, path] of text.matchAll(/<(?:script|link)[^>]* (?:src|href)="([^"]+)"/g)) if (!path.startsWith('data:')) await get(new URL(path, `${origin}/`).href);
    console.log(`ok ${origin}/${page}`);
  }
  const { evaluation } = await post('/api/answer'), { token } = await post('/api/token', { evaluation });
  const events = await get(`${proviso}/v1/evaluations/${evaluation}/events`, { headers: { Authorization: 'Bearer ' + token } });
  const verdicts = events.split('\n').filter((l) => l === 'event: verdict').length;
  if (verdicts !== 4 || !events.includes('event: end')) throw new Error('expected 4 verdicts, got ' + events.slice(0, 1000));
  const { response } = await post('/api/results');
  if (response.passed !== 3 || response.failed !== 1) throw new Error('expected 3 of 4 passed, got ' + JSON.stringify(response).slice(0, 500));
  const { items: [{ findings }] } = await post('/api/lint', { assertions: [{ id: 'a', criteria: ['The tone is appropriate.'] }] });
  if (!findings.length) throw new Error('a vague criterion has no finding');
  console.log(`ok ${verdicts} verdicts streamed, ${findings.length} finding about a vague criterion`);
}
