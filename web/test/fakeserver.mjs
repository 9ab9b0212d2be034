// A server of fixtures in the shape of src/api.ts, for the states that are hard to bring
// about with a real one. The state comes from the address /_state?set=NAME:
//
//   full (also at the start), empty, error (500 for data), expired (401), slow (2 s),
//   gone (connections are cut)
//
//   node test/fakeserver.mjs [PORT]
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as data from './fakedata.mjs';

const dist = join(dirname(fileURLToPath(import.meta.url)), '../dist');
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
const page = '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><title>proviso</title><link rel="icon" href="data:,"><link rel="stylesheet" href="/assets/app.css"><script type="module" src="/assets/app.js"></script></head><body><div id="app"></div></body></html>';

let state = 'full';

// start listens, and returns the server with its address.
export async function start(port = 0) {
  const server = createServer((req, res) => void serve(req, res).catch(() => res.destroy()));
  await new Promise((done) => server.listen(port, '127.0.0.1', done));
  return { server, url: 'http://127.0.0.1:' + server.address().port };
}

async function serve(req, res) {
  const url = new URL(req.url, 'http://x');
  if (url.pathname === '/_state') {
    state = url.searchParams.get('set') ?? 'full';
    return send(res, 200, {});
  }
  if (url.pathname === '/_finish') {
    data.finish();
    return send(res, 200, {});
  }
  if (state === 'gone') return res.destroy();
  if (url.pathname.startsWith('/assets/')) return file(res, url.pathname.slice(8));
  if (url.pathname === '/healthz') return send(res, 200, { status: 'ok' });
  if (!url.pathname.startsWith('/v1/')) return reply(res, 200, 'text/html; charset=utf-8', Buffer.from(page), { 'Content-Security-Policy': policy });
  if (url.pathname === '/v1/session' && req.method === 'POST') {
    state = 'full';
    return send(res, 200, data.session);
  }
  if (state === 'expired') return problem(res, 401, 'Not logged in', 'The session has ended.');
  if (state === 'error') return problem(res, 500, 'Internal error', 'The database could not be read.');
  if (state === 'slow') await new Promise((done) => setTimeout(done, 2000));
  if (req.method === 'DELETE') return reply(res, 204, 'text/plain', Buffer.alloc(0));
  const events = /^\/v1\/runs\/([^/]+)\/events$/.exec(url.pathname);
  if (events) return stream(res, decodeURIComponent(events[1]));
  const found = data.answer(url, state === 'empty');
  if (found === undefined) return problem(res, 404, 'Not found', 'There is nothing at ' + url.pathname + '.');
  return send(res, 200, found);
}

// stream sends a progress event a second until the run has ended.
function stream(res, id) {
  res.writeHead(200, { 'Content-Type': 'text/event-stream' });
  let n = 0;
  const tick = () => {
    const run = data.run(id), going = run?.status === 'running';
    res.write(`id: ${run?.status}-${n++}\nevent: ${going ? 'progress' : 'end'}\ndata: ${JSON.stringify(run ?? {})}\n\n`);
    if (!going) { clearInterval(timer); res.end(); }
  };
  const timer = setInterval(tick, 1000);
  res.on('close', () => clearInterval(timer));
  tick();
}

function file(res, name) {
  let text;
  try { text = readFileSync(join(dist, name.replaceAll('/', ''))); } catch { return problem(res, 404, 'Not found', name); }
  reply(res, 200, name.endsWith('.css') ? 'text/css' : 'text/javascript', text);
}

const problem = (res, status, title, detail) => reply(res, status, 'application/problem+json', Buffer.from(JSON.stringify({ type: 'about:blank', title, status, detail })));

const send = (res, status, body) => reply(res, status, 'application/json', Buffer.from(JSON.stringify(body)));

function reply(res, status, type, body, headers = {}) {
  res.writeHead(status, { 'Content-Type': type, 'Content-Encoding': 'gzip', 'Cache-Control': 'no-cache', ...headers });
  res.end(status === 204 ? undefined : gzipSync(body));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await start(Number(process.argv[2] ?? 8123));
  console.log(url);
}
