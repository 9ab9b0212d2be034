// A host of <proviso-panel>: the server of an application that shows its users what a model
// answered, and the verdicts beside it. It has the key of proviso; its pages never see it.
//
//   POST /api/answer    lets proviso judge an answer; gives the id of the evaluation
//   POST /api/token     a token for that evaluation, for the panel
//   POST /api/results   lets proviso judge an answer; gives the results themselves
//   POST /api/label     a label from a panel that this host feeds
//   POST /api/lint      the wording of assertions
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url)), web = join(here, '../../web');

// What an application would have made of a user's question and a model's answer.
const request = JSON.parse(readFileSync(join(here, '../agent/request.json'), 'utf8'));

const types = { html: 'text/html; charset=utf-8', js: 'text/javascript', css: 'text/css' };

// policies are the Content-Security-Policy of each page. The page "strict" has a copy of
// panel.js, as an application has it that installs the npm package; the others load it
// from proviso. All of them let the panel connect to proviso.
const policies = {
  strict: (proviso) => `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ${proviso}; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`,
  other: (proviso) => `default-src 'self'; script-src 'self' ${proviso}; connect-src 'self' ${proviso}; img-src 'self' data:; frame-ancestors 'none'`,
};

// start listens. proviso(url, key) says where proviso is, once it has started: it needs
// the origin of this host first.
export async function start({ port = 0 } = {}) {
  const host = { proviso: '', key: '', sessions: new Map(), origin: '' };
  const server = createServer((req, res) => void serve(host, req, res).catch((e) => {
    console.error(String(e?.message ?? e));
    if (res.headersSent) res.destroy();
    else send(res, 502, { detail: 'the host could not do this' });
  }));
  await new Promise((resolve, reject) => { server.once('error', reject); server.listen(port, '127.0.0.1', resolve); });
  host.origin = `http://127.0.0.1:${server.address().port}`;
  return {
    origin: host.origin,
    proviso(url, key) { host.proviso = url; host.key = key; },
    stop: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }),
  };
}

async function serve(host, req, res) {
  const { pathname } = new URL(req.url, host.origin);
  if (req.method === 'POST') return api(host, pathname, req, res);
  if (pathname === '/panel.js') return file(res, join(web, 'dist/panel.js'), 'js');
  if (pathname === '/react.js') return send(res, 200, await react(), types.js);
  const [, name, ext] = /^\/([a-z]+)\.(html|js|css)$/.exec(pathname === '/' ? '/index.html' : pathname) ?? [];
  if (!name) return send(res, 404, { detail: 'not found' });
  if (ext !== 'html') return file(res, join(here, 'pages', name + '.' + ext), ext);
  const policy = (policies[name] ?? policies.other)(host.proviso);
  let text;
  try { text = readFileSync(join(here, 'pages', name + '.html'), 'utf8'); } catch { return send(res, 404, { detail: 'not found' }); }
  session(host, req, res);
  send(res, 200, text.replaceAll('{proviso}', host.proviso), types.html, { 'Content-Security-Policy': policy, 'X-Content-Type-Options': 'nosniff', 'Referrer-Policy': 'no-referrer' });
}

async function api(host, path, req, res) {
  // Pages of other sites must not make this host spend the budget of its key.
  if (req.headers.origin !== host.origin) return send(res, 403, { detail: 'not from a page of this host' });
  const mine = session(host, req, res), body = await read(req);
  switch (path) {
    case '/api/answer': {
      const { id } = await ask(host, '/v1/evaluations', { ...request, keep_s: 600 });
      mine.add(id);
      return send(res, 200, { evaluation: id, input: request.agent_input, output: request.agent_output });
    }
    case '/api/token': // only for what this visitor may see
      if (!mine.has(body.evaluation)) return send(res, 404, { detail: 'there is no such evaluation' });
      return send(res, 200, await ask(host, '/v1/panel-tokens', { evaluation: body.evaluation, origin: host.origin, ttl_s: 600, allow: ['read', 'label'], by: 'a visitor of the example' }));
    case '/api/results':
      return send(res, 200, { input: request.agent_input, output: request.agent_output, response: await ask(host, '/v1/evaluate', request) });
    case '/api/label': // an application stores it, or sends it to POST /v1/labels of proviso
      console.log('label:', JSON.stringify(body).slice(0, 500));
      return send(res, 200, {});
    case '/api/assertions':
      return send(res, 200, { assertions: request.assertions });
    case '/api/lint': {
      const reply = await proviso(host, '/v1/lint', { assertions: body.assertions });
      return send(res, reply.status, await reply.json());
    }
  }
  send(res, 404, { detail: 'not found' });
}

// ask sends a request to proviso with the key of this host.
async function ask(host, path, body) {
  const reply = await proviso(host, path, body);
  if (!reply.ok) throw new Error(`proviso: ${path}: ${reply.status} ${(await reply.text()).slice(0, 500)}`);
  return reply.json();
}

const proviso = (host, path, body) => fetch(host.proviso + path, {
  method: 'POST', body: JSON.stringify(body), redirect: 'error',
  headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ' + host.key },
});

// session returns the evaluations of a visitor. Here a visitor is a cookie; an application
// knows its users.
function session(host, req, res) {
  let id = /(?:^|; )visitor=([0-9a-f]{32})/.exec(req.headers.cookie ?? '')?.[1];
  if (!host.sessions.has(id)) {
    id = randomBytes(16).toString('hex');
    host.sessions.set(id, new Set());
    res.setHeader('Set-Cookie', `visitor=${id}; HttpOnly; SameSite=Strict; Path=/`);
  }
  return host.sessions.get(id);
}

async function read(req) {
  const parts = [];
  let size = 0;
  for await (const part of req) {
    if ((size += part.length) > 1 << 20) throw new Error('a request is too large');
    parts.push(part);
  }
  return parts.length ? JSON.parse(Buffer.concat(parts).toString('utf8')) : {};
}

// react bundles the page of React once, from the packages in web/node_modules.
let bundle;
function react() {
  return (bundle ??= (async () => {
    const { build } = await import(createRequire(join(web, 'package.json')).resolve('esbuild'));
    const built = await build({ entryPoints: [join(here, 'pages/react.jsx')], nodePaths: [join(web, 'node_modules')], bundle: true, write: false, format: 'esm', jsx: 'automatic', define: { 'process.env.NODE_ENV': '"production"' }, minify: true });
    return built.outputFiles[0].text;
  })());
}

function file(res, path, ext) {
  let data;
  try { data = readFileSync(path); } catch { return send(res, 404, { detail: 'not found' }); }
  send(res, 200, data, types[ext]);
}

function send(res, status, body, type = 'application/json', headers = {}) {
  res.writeHead(status, { 'Content-Type': type, 'Cache-Control': 'no-store', ...headers });
  res.end(typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body));
}
