// Drives Chromium against the proviso binary. No request leaves this machine: names do
// not resolve, and each request to another host is recorded.
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { kept } from './fixtures.mjs';
import { patience, until } from './tests.mjs';

const binary = process.env.PROVISO ?? new URL('../../proviso', import.meta.url).pathname;
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const folder = mkdtempSync(join(tmpdir(), 'proviso-browser-'));
const servers = new Set();
let browser;

// The browsers that playwright may find, in the order of preference.
export const chromiumPath = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

export function launch() {
  browser ??= chromium.launch({
    executablePath: process.env.CHROMIUM ?? chromiumPath,
    args: ['--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', '--disable-background-networking', '--disable-component-update', '--no-first-run', '--force-color-profile=srgb', '--font-render-hinting=none'],
  });
  return browser;
}

export async function close() {
  await (await browser)?.close();
  clean();
}

// clean leaves no server behind, however the tests end.
function clean() {
  for (const s of servers) s.process.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
process.on('exit', clean);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

// run runs proviso to its end.
export async function proviso(args, env = {}) {
  return promisify(execFile)(binary, args, { env: { ...process.env, ...environment(), ...env }, maxBuffer: 1 << 26 });
}

// environment keeps what proviso stores out of the home of the user.
const environment = () => ({ XDG_STATE_HOME: join(folder, 'state'), XDG_CACHE_HOME: join(folder, 'cache'), XDG_CONFIG_HOME: join(folder, 'config'), BROWSER: 'true' });

// start starts a server and waits for the address that it prints. opened is that address,
// as a person would open it; url is the address without its path.
export async function start(args, env = {}) {
  const child = spawn(binary, args, { env: { ...process.env, ...environment(), ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const server = { process: child, output: '' };
  servers.add(server);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => { server.output = (server.output + data).slice(-1 << 16); });
  let exited = false;
  child.on('exit', () => { exited = true; servers.delete(server); });
  const opened = await until(() => {
    if (exited) throw new Error(`proviso ${args.join(' ')} ended: ${server.output}`);
    return /http:\/\/[^\s"]+/.exec(server.output)?.[0].replace(/[;,.)]+$/, '');
  }, `the address of proviso ${args[0]}`);
  return Object.assign(server, {
    opened, url: new URL(opened).origin,
    stop: () => new Promise((resolve) => { if (exited) resolve(); child.on('exit', resolve); child.kill('SIGTERM'); }),
  });
}

// made makes a fixture once and shares its folder.
const fixtures = new Map();
export function made(name, into = name) {
  const key = `${into}/${name}`;
  if (!fixtures.has(key)) fixtures.set(key, kept[name](join(folder, 'runs', into)));
  return { ...fixtures.get(key), folder: join(folder, 'runs', into) };
}

// view serves a folder of fixtures, one server for each set of them.
const views = new Map();
export function view(...names) {
  const into = names.join('+') || 'none';
  if (!views.has(into)) {
    views.set(into, (async () => {
      for (const n of names) made(n, into);
      return start(['view', join(folder, 'runs', into), '--addr', '127.0.0.1:0', '--no-open']);
    })());
  }
  return views.get(into);
}

// serve serves a database with fixtures that were pushed to it.
export async function serve(names, { env = {}, args = [], key } = {}) {
  const db = join(mkdtempSync(join(folder, 'db-')), 'proviso.db');
  const state = { db, start: () => start(['serve', '--addr', state.addr ?? '127.0.0.1:0', '--db', db, '--rate', '0', ...args], env) };
  if (key) state.key = (await proviso(['key', 'create', 'browser', '--db', db, '--scope', key])).stdout.trim().split('\n').find((l) => l.includes('pvk_')).match(/pvk_\S+/)[0];
  state.server = await state.start();
  state.addr = new URL(state.server.url).host;
  state.runs = {};
  for (const name of names) {
    const f = made(name);
    const answer = await fetch(`${state.server.url}/v1/runs`, {
      method: 'POST', body: readFileSync(f.path),
      headers: { 'Content-Type': 'application/x-ndjson', ...(state.key ? { Authorization: `Bearer ${state.key}` } : {}) },
    });
    if (!answer.ok) throw new Error(`push ${name}: ${answer.status} ${await answer.text()}`);
    state.runs[name] = (await answer.json()).id;
  }
  return state;
}

// open makes a page of its own context that records everything that must not happen.
export async function open({ width = 1440, height = 900, theme = 'light', ...more } = {}) {
  const context = await (await launch()).newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: 'reduce', ...more });
  const trouble = [];
  await context.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (e) => console.error(`securitypolicyviolation: ${e.violatedDirective} ${e.blockedURI} ${e.sample}`));
  });
  context.on('request', (r) => {
    const u = new URL(r.url());
    if (/^(https?|wss?):$/.test(u.protocol) && u.hostname !== '127.0.0.1') trouble.push(`foreign request: ${r.url().slice(0, 200)}`);
  });
  context.on('dialog', (d) => { trouble.push(`dialog: ${d.message().slice(0, 200)}`); return d.dismiss(); });
  context.on('weberror', (e) => trouble.push(`uncaught: ${e.error().stack ?? e.error()}`.slice(0, 600)));
  context.on('console', (m) => {
    if (m.type() === 'error' && !m.text().startsWith('Failed to load resource')) trouble.push(`console: ${m.text().slice(0, 400)}`);
  });
  const page = await context.newPage();
  page.setDefaultTimeout(patience);
  context.on('page', (p) => { trouble.push(`window: ${p.url()}`); });
  return { page, context, trouble, [Symbol.asyncDispose]: () => context.close(), close: () => context.close() };
}

// with opens a page, hands it to the test, and fails if something happened that must not.
export async function withPage(options, use) {
  const o = await open(options);
  try {
    await use(o.page, o);
    const sentinel = await o.page.evaluate(() => window.__proviso_sentinel);
    if (sentinel !== undefined) o.trouble.push('the sentinel is set: text of a run was executed');
    if (o.trouble.length) throw new Error(`the page had trouble:\n  ${o.trouble.slice(0, 5).join('\n  ')}`);
  } catch (error) {
    if (process.env.KEEP_SHOTS) await o.page.screenshot({ path: join(process.env.KEEP_SHOTS, `${Date.now()}.png`) }).catch(() => {});
    throw error;
  } finally {
    await o.close();
  }
}

// enter opens a page of a server. The address that the server printed works once, so that
// all contexts share the session of the first visit.
export async function enter(page, server, path = '/', timeout = patience) {
  server.session ??= (async () => {
    if (!new URL(server.opened).search) return [];
    const context = await (await launch()).newContext(), first = await context.newPage();
    await first.goto(server.opened);
    await ready(first);
    const cookies = await context.cookies();
    await context.close();
    if (!cookies.length) throw new Error(`the address that proviso prints gives no session: ${server.output}`);
    return cookies;
  })();
  const context = page.context(), cookies = await server.session;
  if (!(await context.cookies(server.url)).length && cookies.length) await context.addCookies(cookies);
  await page.goto(server.url + path);
  await ready(page, timeout);
  const lost = page.getByText(/session has ended|link that proviso view prints/);
  if (await lost.count()) throw new Error(`the browser has no session: ${await lost.first().innerText()}`);
}

// ready waits until the page shows what it is about: a heading, and nothing is busy.
export async function ready(page, timeout = patience) {
  await page.getByRole('heading', { level: 1 }).first().waitFor({ timeout });
  await page.waitForFunction(() => !document.querySelector('[aria-busy="true"]'), undefined, { timeout });
}

// to moves the focus to an element as a person without a mouse does: by the Tab key.
export async function to(page, locator, key = 'Tab') {
  await locator.waitFor();
  for (let n = 0; n < 300; n++) {
    if (await locator.evaluate((e) => e === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} does not reach ${locator}`);
}

// layoutRules are the rules of axe that depend on the width and on the theme.
export const layoutRules = ['color-contrast', 'target-size', 'link-in-text-block', 'scrollable-region-focusable', 'meta-viewport', 'css-orientation-lock'];

// axe returns the violations of the page, one line for each: of all rules that axe has on,
// and of the size of targets (WCAG 2.2), or of those that are named.
export async function axe(page, only) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axeSource);
  const { violations } = await page.evaluate((only) => window.axe.run(document, { resultTypes: ['violations'], ...(only ? { runOnly: { type: 'rule', values: only } } : { rules: { 'target-size': { enabled: true } } }) }), only);
  return violations.map((v) => `${v.id} (${v.impact}) ${v.nodes.length} nodes: ${v.nodes.slice(0, 3).map((n) => `${n.target.join(' ')}: ${n.failureSummary?.split('\n').slice(1, 3).join('; ').trim()}`).join(' | ')}`);
}

// hold keeps the answers to requests back until the returned function is called.
export async function hold(page, pattern) {
  let release;
  const held = new Promise((resolve) => { release = resolve; });
  await page.route(pattern, async (route) => { await held; await route.continue().catch(() => {}); });
  return release;
}

// refuse answers requests with a problem, as the server writes one.
export async function refuse(page, pattern, status = 500, title = 'internal error') {
  await page.route(pattern, (route) => route.fulfill({ status, contentType: 'application/problem+json', body: JSON.stringify({ type: 'about:blank', title, status, detail: 'the test refuses this request' }) }));
}

// paint waits for the first contentful paint.
const paint = (page) => page.evaluate(() => new Promise((resolve) => {
  new PerformanceObserver((list, o) => { const e = list.getEntriesByName('first-contentful-paint')[0]; if (e) { o.disconnect(); resolve(e.startTime); } }).observe({ type: 'paint', buffered: true });
}));

// atRest are requests that pages make once somebody stays: for the judges of a run, and for
// the labels of a row. They are no part of the first load, however slow the machine is.
const atRest = /^\/v1\/runs\/[^/?]+$|^\/v1\/labels\?/;

// cold opens an address in a new context and measures what the load took.
export async function cold(server, path, until, options) {
  const o = await open({ reducedMotion: 'no-preference', ...options });
  try {
    if (server) await enter(o.page, server, '/settings');
    const cdp = await o.context.newCDPSession(o.page);
    await cdp.send('Network.enable');
    await cdp.send('Network.setCacheDisabled', { cacheDisabled: true });
    const got = { requests: 0, asked: [], bytes: 0, code: 0 }, urls = new Map();
    cdp.on('Network.responseReceived', (e) => urls.set(e.requestId, e.response.url));
    cdp.on('Network.requestWillBeSent', (e) => { const asked = e.request.url.replace(/^https?:\/\/[^/]+/, ''); if (e.request.url.startsWith('http') && !atRest.test(asked)) { got.requests++; got.asked.push(asked.slice(0, 80)); } });
    cdp.on('Network.loadingFinished', (e) => {
      got.bytes += e.encodedDataLength;
      if (/\/assets\/|\/runs/.test(urls.get(e.requestId) ?? '') && !(urls.get(e.requestId) ?? '').includes('/v1/')) got.code += e.encodedDataLength;
    });
    const from = Date.now();
    await o.page.goto(server ? server.url + path : path);
    await ready(o.page, 5 * patience); // the server reads a large run when it is first asked for
    await until?.(o.page);
    got.ms = Date.now() - from;
    got.paint = await paint(o.page);
    got.nodes = await o.page.evaluate(() => document.querySelectorAll('*').length);
    return got;
  } finally {
    await o.close();
  }
}
