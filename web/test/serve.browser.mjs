// proviso serve as a team uses it: keys, sessions, and runs of suites that are put by API
// and watched in the browser.
import { createServer } from 'node:http';
import { enter, proviso, ready, serve, withPage } from './harness.mjs';
import { equal, ok, test, until } from './tests.mjs';

// model answers each question when go says so, so that a test decides how far a run is.
async function model() {
  const asked = new Set(), waiting = [];
  let left = 0;
  const next = () => { while (left > 0 && waiting.length) { left--; waiting.shift()(); } };
  const server = createServer((request, reply) => {
    let body = '';
    request.on('data', (part) => { body += part; });
    request.on('end', () => {
      const text = JSON.parse(body).messages.at(-1).content;
      asked.add(text);
      waiting.push(() => reply.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ choices: [{ message: { role: 'assistant', content: `answer to ${text}` }, finish_reason: 'stop' }], usage: { total_tokens: 3, prompt_tokens: 2, completion_tokens: 1 } })));
      next();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { asked, go(n) { left += n; next(); }, url: `http://127.0.0.1:${server.address().port}/v1`, close: () => { server.closeAllConnections(); server.close(); } };
}

const suite = (name, rows, concurrency = 1) => ({
  name, suite: {
    description: name, prompts: ['{{n}}'], providers: ['llama.cpp:m'], evaluateOptions: { maxConcurrency: concurrency },
    tests: Array.from({ length: rows }, (_, n) => ({ description: `case ${n}`, vars: { n: `question ${n}` }, assert: [{ type: 'not-contains', value: 'question 1' }] })),
  },
});

// local lets suites ask the model of the test.
const local = (m) => ({ args: ['--allow-host', '127.0.0.1'], env: { LLAMA_BASE_URL: m.url } });

async function api(sv, method, path, body, key) {
  const reply = await fetch(sv.server.url + path, { method, headers: { ...(body ? { 'Content-Type': 'application/json' } : {}), ...(key ? { Authorization: `Bearer ${key}` } : {}) }, body: body && JSON.stringify(body) });
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
  return reply.status === 204 ? undefined : reply.json();
}

async function begin(sv, name, rows, key) {
  await api(sv, 'POST', '/v1/suites', suite(name, rows), key);
  return (await api(sv, 'POST', `/v1/suites/${name}/runs`, {}, key)).id;
}

async function newKey(sv, name, scope) {
  const text = (await proviso(['key', 'create', name, '--db', sv.db, '--scope', scope])).stdout;
  return /pvk_\S+/.exec(text)[0];
}

async function login(page, sv, key) {
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Log in' }).click();
}

const main = (page) => page.locator('main').innerText();
const says = (page, what) => until(async () => what.test(await page.locator('body').innerText()), `${what} on the page`, 30_000);

test('serve: log in, open the API docs, log out', { smoke: true }, () => withPage({}, async (page) => {
  const sv = await serve(['support'], { key: 'admin' });
  await page.goto(`${sv.server.url}/docs`); // comes back here after the login
  await page.getByLabel('API key').waitFor();
  await login(page, sv, 'pvk_wrong');
  await says(page, /does not know this key/);
  await login(page, sv, sv.key);
  await page.waitForURL(/\/docs$/);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await enter(page, sv.server, '/runs');
  await page.getByRole('link', { name: /support-bot/ }).first().waitFor();
  const kept = await page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }]));
  ok(!kept.includes('pvk_') && !/proviso_\d/.test(kept), `scripts can read the session: ${kept}`);
  await page.goto(`${sv.server.url}/settings`);
  await page.getByRole('button', { name: 'Log out', exact: true }).click();
  await page.waitForURL(/\/login$/);
  await page.goto(`${sv.server.url}/runs`);
  await says(page, /not logged in, or your session has ended/);
  ok(!(await main(page)).includes('support-bot'), 'runs are shown without a session');
}));

test('serve: a key that is revoked while a page is open', {}, () => withPage({}, async (page) => {
  const sv = await serve(['support', 'before'], { key: 'admin' });
  const secret = await newKey(sv, 'reader', 'read');
  await page.goto(`${sv.server.url}/login?next=%2Fruns%3Fq%3Dsupport`);
  await login(page, sv, secret);
  await page.waitForURL(/\/runs\?q=support$/);
  await ready(page);
  await proviso(['key', 'revoke', 'reader', '--db', sv.db]);
  await page.getByRole('navigation').getByRole('link', { name: 'Judges', exact: true }).click();
  await says(page, /not logged in, or your session has ended/);
  await page.getByRole('link', { name: 'Log in' }).click();
  await login(page, sv, sv.key);
  await page.waitForURL(/\/judges$/);
  await ready(page);
  equal(await page.getByText('your session has ended').count(), 0, 'notes about the session');
}));

test('serve: what a key may do is what its page shows', {}, () => withPage({}, async (page, { context }) => {
  const m = await model();
  try {
    const sv = await serve(['support'], { key: 'admin', ...local(m) });
    const own = await newKey(sv, 'worker', 'evaluate,edit');
    m.go(100);
    const id = await begin(sv, 'mine', 3, own);
    for (const [key, seen, hidden] of [[own, /mine/, /support-bot/], [await newKey(sv, 'reader', 'read'), /support-bot/, /no such text/]]) {
      await context.clearCookies();
      await page.goto(`${sv.server.url}/login`);
      await login(page, sv, key);
      await page.waitForURL(/\/runs$/);
      await says(page, seen);
      ok(!hidden.test(await main(page)), `the list has ${hidden}`);
      await page.goto(`${sv.server.url}/settings`);
      await ready(page);
      ok(!(await main(page)).includes('worker') && !(await main(page)).includes('pvk_'), 'a key that is no admin sees other keys');
      const denied = await page.evaluate(async (run) => (await fetch(`/v1/runs/${run}/cancel`, { method: 'POST', headers: { 'X-Proviso': '1' } })).status, sv.runs.support);
      ok(denied === 403 || denied === 404, `cancelling the run of another gives ${denied}`);
    }
    await page.goto(`${sv.server.url}/runs/${id}`); // the reader sees all runs of the project
    await says(page, /case 0/);
  } finally { m.close(); }
}));

test('serve: a run is watched from its start to its end', { smoke: true, timeout: 120_000 }, () => withPage({}, async (page) => {
  const m = await model();
  try {
    const sv = await serve([], { key: 'admin', ...local(m) });
    const id = await begin(sv, 'watched', 8, sv.key);
    await page.goto(`${sv.server.url}/login?next=${encodeURIComponent(`/runs/${id}`)}`);
    await login(page, sv, sv.key);
    await says(page, /Running: |The run is queued/);
    m.go(3);
    await says(page, /3 of 8 results/);
    const titles = () => page.getByRole('rowheader').allInnerTexts();
    const cases = async () => (await titles()).map((t) => /case \d+/.exec(t)?.[0]).filter(Boolean);
    await until(async () => (await cases()).length === 3, 'three cases');
    const first = await cases();
    const top = await page.getByRole('row').filter({ hasText: first[0] }).first().boundingBox();
    m.go(3);
    await says(page, /6 of 8 results/);
    await until(async () => (await cases()).length === 6, 'six cases');
    equal((await cases()).slice(0, 3), first, 'the cases that were there');
    equal((await page.getByRole('row').filter({ hasText: first[0] }).first().boundingBox()).y, top.y, 'where the first case is');
    m.go(2);
    await until(async () => !/Running: /.test(await main(page)), 'the end of the run', 30_000);
    await until(async () => (await cases()).length === 8, 'eight cases at the end');
    const counts = await page.getByRole('group', { name: /Filter by status/ }).innerText();
    ok(/All\s+8/.test(counts) && /Failed\s+1/.test(counts) && /Passed\s+7/.test(counts), `the counts are ${counts}`);
    const name = 'not-contains question 1'; // as the matrix, the history and the rows have it
    equal((await api(sv, 'GET', '/v1/assertions', undefined, sv.key)).items.map((a) => a.assertion), [name], 'assertions');
    equal((await api(sv, 'GET', `/v1/runs/${id}/results?status=fail&assertion=${encodeURIComponent(name)}`, undefined, sv.key)).items.length, 1, 'rows that fail it');
  } finally { m.close(); }
}));

test('serve: a run that is cancelled', { timeout: 90_000 }, () => withPage({}, async (page) => {
  const m = await model();
  try {
    const sv = await serve([], local(m));
    const id = await begin(sv, 'stopped', 5);
    m.go(2);
    await enter(page, sv.server, `/runs/${id}`);
    await says(page, /2 of 5 results/);
    await until(() => m.asked.size === 3, 'the third question');
    await api(sv, 'POST', `/v1/runs/${id}/cancel`);
    await says(page, /cancelled after 2 of 5 results/);
    await page.getByRole('navigation').getByRole('link', { name: 'Runs', exact: true }).click();
    await says(page, /Cancelled/);
  } finally { m.close(); }
}));

test('serve: a run that fails, and a session that ends with the server', { timeout: 90_000 }, () => withPage({}, async (page) => {
  const m = await model();
  try {
    const sv = await serve([], { key: 'admin', ...local(m) });
    const id = await begin(sv, 'fails', 3, await newKey(sv, 'worker', 'evaluate,edit'));
    m.go(1);
    await page.goto(`${sv.server.url}/login?next=${encodeURIComponent(`/runs/${id}`)}`);
    await login(page, sv, sv.key);
    await says(page, /1 of 3 results/);
    await says(page, /case 0/);
    sv.server.process.kill('SIGKILL');
    await says(page, /The server does not reply/);
    await proviso(['key', 'revoke', 'worker', '--db', sv.db]);
    sv.server = await sv.start();
    await says(page, /your session has ended/);
    ok(/case 0/.test(await main(page)), 'the row that had finished is gone');
    await page.getByRole('link', { name: 'Log in' }).click();
    await login(page, sv, sv.key);
    await says(page, /The run failed after 1 of 3 results\. The key .* was revoked\. The page shows these results\./);
    await says(page, /case 0/);
  } finally { m.close(); }
}));

test('serve: the server is started again in the middle of a run', { timeout: 120_000 }, () => withPage({}, async (page) => {
  const m = await model();
  try {
    const sv = await serve([], local(m));
    const id = await begin(sv, 'continued', 6);
    m.go(2);
    await enter(page, sv.server, `/runs/${id}`);
    await says(page, /2 of 6 results/);
    await says(page, /case 0/);
    await until(() => m.asked.size === 3, 'the third question');
    sv.server.process.kill('SIGKILL');
    await says(page, /The server does not reply/);
    ok(/case 0/.test(await main(page)), 'what was there is gone');
    m.go(1); // of the question whose server is gone
    sv.server = await sv.start();
    await until(async () => !/does not reply/.test(await page.locator('body').innerText()), 'the note to go', 30_000);
    m.go(10);
    await until(async () => (await api(sv, 'GET', `/v1/runs/${id}`)).status === 'done', 'the end of the run', 60_000);
    await until(async () => !/Running: |is queued/.test(await main(page)), 'the page to say so', 30_000);
    const counts = await page.getByRole('group', { name: /Filter by status/ }).innerText();
    ok(/All\s+6/.test(counts), `the counts are ${counts}`);
  } finally { m.close(); }
}));
