// The panel with the proviso binary: the recorded judge of examples/agent, and a judge that
// answers when the test says so.
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { start as startHost } from '../../examples/panel/host.mjs';
import { axe, serve, withPage } from './harness.mjs';
import { inside, row, says } from './panel.browser.mjs';
import { equal, ok, test, until } from './tests.mjs';

const tape = fileURLToPath(new URL('../../examples/agent/tape', import.meta.url));

// real starts a host and a proviso that allows its pages.
async function real(options) {
  const host = await startHost();
  try {
    const sv = await serve([], { ...options, key: 'evaluate', args: [...options.args, '--panel-origin', host.origin] });
    host.proviso(sv.server.url, sv.key);
    return { ...sv, host, url: sv.server.url, stop: async () => { await host.stop(); await sv.server.stop(); } };
  } catch (e) { await host.stop(); throw e; }
}

test('panel: the example hosts with proviso', { smoke: true }, async () => {
  const sv = await real({ args: ['--replay', tape] });
  try {
    for (const name of ['plain', 'react', 'strict', 'hostile', 'fed']) {
      await withPage({}, async (page) => {
        const seen = [];
        page.on('response', async (r) => { seen.push(r.url(), JSON.stringify(await r.allHeaders().catch(() => '')), await r.text().catch(() => '')); });
        page.on('request', (r) => { seen.push(JSON.stringify(r.headers()), r.postData() ?? ''); });
        await page.goto(`${sv.host.origin}/${name}.html`);
        await says(page, /3 of 4 passed · 1 failed$/m);
        await row(page, 'safety_first').click();
        await inside(page, '.quotes button').first().click();
        equal(await page.evaluate(() => [...CSS.highlights.get('evidence')].map(String).join()), 'A small crack is usually fine for a short ride.', 'the marked text');
        ok(await inside(page).isVisible(), 'the panel is not visible');
        if (name !== 'hostile') equal(await axe(page), [], 'axe');
        ok(!seen.some((s) => s.includes(sv.key)), 'the key of the host is in its page');
        ok(seen.some((s) => s.includes('pvt_')) === (name !== 'fed'), 'who has a token');
      });
    }
    await withPage({}, async (page) => {
      await page.goto(`${sv.host.origin}/edit.html`);
      await says(page, /no findings about the wording|finding/);
      await inside(page, '[aria-label="Criterion 1 of safety_first"]').fill('The tone is appropriate.');
      await says(page, /vague: .*appropriate/);
      await inside(page, '#id-1').fill('prices_from_list');
      await says(page, /mistake: .*prices_from_list|could not be checked: .*prices_from_list/);
    });
  } finally { await sv.stop(); }
});

// judge answers that each criterion is met, when let says so.
async function judge() {
  const waiting = [];
  let open = false;
  const server = createServer((req, res) => {
    let body = '';
    req.on('data', (part) => { body += part; });
    req.on('end', () => {
      const asked = JSON.parse(body).messages.at(-1).content;
      const content = JSON.stringify({ results: [...asked.matchAll(/"id":\s*"([a-z]+)"/g)].map(([, id]) => ({ id, criteria: [{ n: 1, reasoning: 'It does.', evidence: [], met: true }] })) });
      const answer = () => res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }], usage: { total_tokens: 3, prompt_tokens: 2, completion_tokens: 1 } }));
      if (open) answer();
      else waiting.push(answer);
    });
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { let() { open = true; waiting.splice(0).forEach((f) => f()); }, url: `http://127.0.0.1:${server.address().port}/v1`, close: () => { server.closeAllConnections(); server.close(); } };
}

test('panel: a token of proviso expires while verdicts come in', { smoke: true }, async () => {
  const model = await judge();
  const sv = await real({ args: ['--judge', 'llama.cpp:m'], env: { LLAMA_BASE_URL: model.url } });
  const api = async (path, body) => {
    const reply = await fetch(sv.url + path, { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', Authorization: 'Bearer ' + sv.key } });
    if (!reply.ok) throw new Error(`${path}: ${reply.status} ${await reply.text()}`);
    return reply.json();
  };
  try {
    await withPage({}, async (page) => {
      const output = 'Hello 👋 you.';
      const { id } = await api('/v1/evaluations', { agent_input: 'q', agent_output: output, assertions: [{ id: 'slow', criteria: ['It greets.'] }, { id: 'fast', check: { type: 'contains', value: 'Bye' } }] });
      let tokens = 0;
      await page.exposeFunction('mint', () => api('/v1/panel-tokens', { evaluation: id, origin: sv.host.origin, ttl_s: tokens++ ? 600 : 1, allow: ['read'] }));
      await page.goto(`${sv.host.origin}/index.html`);
      await page.addScriptTag({ url: `${sv.url}/panel.js`, type: 'module' });
      await page.evaluate(([id, output]) => { const p = document.createElement('proviso-panel'); document.querySelector('main').append(p); p.output = output; p.evaluation = id; p.getToken = () => window.mint(); p.endpoint = [...document.scripts].at(-1).src.replace('/panel.js', ''); }, [id, output]);
      await says(page, /0 of 2 passed · 1 failed · judging 1…/);
      await until(() => tokens === 2, 'another token, after the first has expired');
      model.let();
      await says(page, /1 of 2 passed · 1 failed$/m);
    });
  } finally {
    await sv.stop();
    model.close();
  }
});

test('panel: labels with proviso', { smoke: true }, async () => {
  const sv = await real({ args: ['--replay', tape] });
  try {
    await withPage({}, async (page) => {
      await page.goto(`${sv.host.origin}/plain.html`);
      await says(page, /3 of 4 passed · 1 failed$/m);
      await row(page, 'safety_first').click();
      await inside(page, 'button').filter({ hasText: 'Disagree' }).click();
      await inside(page, 'textarea').fill('a small crack 👋');
      await inside(page, 'button.primary').click();
      await says(page, /Recorded as your label: pass/);
      await inside(page, 'button').filter({ hasText: /^Undo/ }).click();
      await inside(page, 'textarea').waitFor();
      equal(await inside(page, 'textarea').inputValue(), 'a small crack 👋', 'the note after undo');
    });
  } finally { await sv.stop(); }
});
