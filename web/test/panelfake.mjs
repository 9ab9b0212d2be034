// A proviso of the contract of the panel that a test controls: it sends events when the
// test says so, cuts streams, lets tokens expire and refuses labels.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { start as startHost } from '../../examples/panel/host.mjs';

const panel = () => readFileSync(new URL('../dist/panel.js', import.meta.url));

// world starts the fake and a host of it. assertions are what an evaluation begins with.
export async function world({ assertions = [], lint = () => [] } = {}) {
  const host = await startHost();
  const w = {
    host: host.origin, assertions, lint, log: [], events: [], streams: new Set(), tokens: 0, dead: new Set(), labels: new Map(), refuse: {}, held: undefined, evaluations: 0,
    // say sends an event to all who listen, and to those who come later.
    say(name, data, id = w.events.length + 1) { const e = { name, id, data }; w.events.push(e); for (const s of w.streams) s.write(text(e)); return e; },
    verdict(index, status = 'pass', more = {}) { return w.say('verdict', { index, id: w.assertions[index]?.id ?? `a${index}`, pass: status === 'pass', status, reasoning: `reason ${index}`, ...more }); },
    finish(more = {}) { w.say('end', { score: 1, threshold: 1, passed_threshold: true, total_ms: 5, ...more }); for (const s of w.streams) s.end(); },
    cut() { for (const s of w.streams) s.destroy(); },
    expire() { for (let n = 1; n <= w.tokens; n++) w.dead.add(`pvt_${n}`); },
    raw(data) { for (const s of w.streams) s.write(data); },
    stop: async () => { server.closeAllConnections(); server.close(); await host.stop(); },
    [Symbol.asyncDispose]: () => w.stop(),
  };
  const server = createServer((req, res) => void serve(w, req, res).catch(() => res.destroy()));
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  w.url = `http://127.0.0.1:${server.address().port}`;
  host.proviso(w.url, 'pvk_of_the_host');
  return w;
}

const text = (e) => `id: ${e.id}\nevent: ${e.name}\ndata: ${JSON.stringify(e.data)}\n\n`;

async function serve(w, req, res) {
  const { pathname: path } = new URL(req.url, w.url), origin = req.headers.origin, bearer = (req.headers.authorization ?? '').slice(7);
  const cors = origin === w.host ? { 'Access-Control-Allow-Origin': origin, 'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key, Last-Event-ID', 'Access-Control-Allow-Methods': 'GET, POST, DELETE', Vary: 'Origin' } : {};
  const send = (status, body, type = status < 400 ? 'application/json' : 'application/problem+json') => res.writeHead(status, { 'Content-Type': type, ...cors }).end(Buffer.isBuffer(body) ? body : JSON.stringify(body));
  const problem = (status, detail) => send(status, { type: 'about:blank', title: detail, status, detail });
  if (req.method === 'OPTIONS') return res.writeHead(204, cors).end();
  if (path === '/panel.js') return res.writeHead(200, { 'Content-Type': 'text/javascript', 'Cross-Origin-Resource-Policy': 'cross-origin', ...cors }).end(panel());
  const parts = [];
  for await (const p of req) parts.push(p);
  const body = parts.length ? JSON.parse(Buffer.concat(parts)) : {};
  w.log.push({ method: req.method, path, body, cookie: req.headers.cookie, last: req.headers['last-event-id'], nonce: req.headers['idempotency-key'], bearer, origin });
  const key = bearer === 'pvk_of_the_host', token = Number(/^pvt_(\d+)$/.exec(bearer)?.[1] ?? Infinity) <= w.tokens && origin === w.host && !w.dead.has(bearer);
  if (!key && !token) return problem(401, 'the token is not valid, or has expired');
  const refused = w.refuse[`${req.method} ${path}`];
  if (refused) return refused === 'cut' ? res.destroy() : problem(refused, 'the test refuses this');
  if (path === '/v1/evaluations' && key) return send(202, { id: `ev_${++w.evaluations}` });
  if (path === '/v1/panel-tokens' && key) return send(201, { token: `pvt_${++w.tokens}`, expires: new Date(Date.now() + 600_000).toISOString() });
  if (path === '/v1/evaluate' && key) return send(200, w.response ?? { results: [] });
  if (path === '/v1/lint') return send(200, { items: body.assertions.map((a, index) => ({ index, id: a.id, findings: w.lint(body.assertions).filter((f) => f.pointer.split('/')[2] === String(index)) })) });
  if (path.endsWith('/events')) return stream(w, req, res, cors);
  if (path === '/v1/labels') {
    const id = `lb_${w.labels.size + 1}`, same = [...w.labels].find(([, l]) => l.nonce === req.headers['idempotency-key']);
    if (!same) w.labels.set(id, { ...body, nonce: req.headers['idempotency-key'] });
    await w.held;
    return send(201, { id: same?.[0] ?? id, by: 'tester', created: new Date().toISOString() });
  }
  if (path.startsWith('/v1/labels/') && req.method === 'DELETE') { w.labels.delete(path.slice(11)); return res.writeHead(204, cors).end(); }
  if (path.startsWith('/v1/evaluations/')) return send(200, w.kept ? { id: 'ev_1', response: w.kept } : { id: 'ev_1' });
  problem(404, 'there is nothing here');
}

function stream(w, req, res, cors) {
  res.writeHead(200, { 'Content-Type': 'text/event-stream', ...cors });
  const last = Number(req.headers['last-event-id'] ?? 0);
  if (w.assertions.length) res.write(text({ name: 'start', id: 0, data: { id: 'ev_1', total: w.assertions.length, assertions: w.assertions.map((a, index) => ({ index, ...a })), output_hash: 'h' } }));
  let ended = false;
  for (const e of w.events) if (e.id > last) { res.write(text(e)); ended ||= e.name === 'end'; }
  if (ended) return res.end();
  w.streams.add(res);
  res.on('close', () => w.streams.delete(res));
  if (!w.assertions.length) res.flushHeaders();
}
