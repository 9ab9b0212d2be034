// The workbench of a judge, on a real server with a model that this file answers for.
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { axe, enter, folder, ready, serve, to, withPage } from './harness.mjs';
import { support, write } from './fixtures.mjs';
import { equal, ok, test, until } from './tests.mjs';

// model passes everything, unless a criterion says "strictly": then it fails what promises a refund
// for a ticket that can be divided by 3.
async function model() {
  const asked = [];
  const server = createServer((request, reply) => {
    let body = '';
    request.on('data', (part) => { body += part; });
    request.on('end', () => {
      asked.push(body);
      const ticket = Number(/\[T-(\d+)\]/.exec(body)?.[1] ?? 1), bad = body.includes('strictly') && ticket % 3 === 0;
      const content = JSON.stringify({ results: [{ id: 'tone', criteria: [1, 2].map((n) => ({ n, reasoning: bad ? '<b>It promises too much.</b>' : 'It is fine.', evidence: [], verdict: bad ? 'not_met' : 'met' })) }] });
      reply.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }], usage: { total_tokens: 3, prompt_tokens: 2, completion_tokens: 1 } }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { asked, url: `http://127.0.0.1:${server.address().port}/v1`, close: () => { server.closeAllConnections(); server.close(); } };
}

const judge = 'openai:chat:gpt-5#25ffeb5e95c9', rows = 180;

// bench serves a run of which every third output is labelled bad, and the judge passed all.
async function bench() {
  const m = await model();
  const sv = await serve([], { args: ['--judge', 'llama.cpp:m'], env: { LLAMA_BASE_URL: m.url } });
  const s = support({ id: '20261121-100000-wb01', cases: rows / 2, output: (i) => `I am sorry. We refund it. [T-${1000 + i}]` });
  const { path } = write(join(folder, 'bench'), s);
  const call = async (p, body, type = 'application/json') => {
    const reply = await fetch(sv.server.url + p, { method: 'POST', headers: { 'Content-Type': type }, body });
    if (!reply.ok) throw new Error(`${p}: ${reply.status} ${await reply.text()}`);
    return reply.json();
  };
  const run = (await call('/v1/runs', readFileSync(path), 'application/x-ndjson')).id;
  for (let index = 0; index < rows; index++) {
    const i = Math.floor(index / 2);
    if (i < 80) await call('/v1/labels', JSON.stringify({ run, index, assertion: 'tone', label: (1000 + i) % 3 === 0 ? 'fail' : 'pass' }));
  }
  return { sv, run, asked: () => m.asked, path: `/judges/${encodeURIComponent(judge)}/workbench?run=${run}&assertion=tone`, close: async () => { await sv.server.stop(); m.close(); } };
}

test('workbench: a stricter criterion is better on the held-out half, and is kept', {}, async () => {
  const b = await bench();
  try {
    await withPage({ height: 1600 }, async (page) => {
      await enter(page, b.sv.server, b.path);
      await page.getByText(/160 labelled outputs/).waitFor();
      await page.getByRole('textbox', { name: 'Criterion 1' }).fill('The output strictly promises nothing.');
      await page.getByRole('button', { name: 'Judge again' }).press('Enter');
      await page.getByRole('heading', { name: /Better/ }).waitFor();
      ok(/[?&]trial=trial_/.test(page.url()), 'the trial is not in the address');
      equal(await page.getByRole('textbox', { name: 'Criterion 1' }).inputValue(), 'The output strictly promises nothing.', 'the change after the trial');
      const text = await page.locator('main').innerText();
      ok(/of the held-out half are not shown/.test(text) && /<b>It promises too much\.<\/b>/.test(text), `flips: ${text.slice(0, 2000)}`);
      for (const width of [320, 768, 1440]) {
        for (const theme of ['light', 'dark']) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme: theme });
          equal(await axe(page), [], `violations at ${width}, ${theme}`);
          ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `the page is wider than ${width}`);
        }
      }
      await page.getByRole('button', { name: 'Keep as a version of the set' }).click();
      await page.getByText('Kept as version 1 of the set tone').waitFor();
      const set = await (await fetch(`${b.sv.server.url}/v1/assertion-sets/tone`)).json();
      equal(set.assertions[0].criteria[0], 'The output strictly promises nothing.', 'the set');
      await page.reload(); // the address holds the state
      await ready(page);
      await page.getByRole('heading', { name: /Better/ }).waitFor();
      for (let n = 2; n <= 3; n++) {
        await page.getByRole('button', { name: 'Judge again' }).click();
        await until(async () => (await (await fetch(`${b.sv.server.url}/v1/judge-trials?run=${b.run}&assertion=tone`)).json()).looks === n, `look ${n}`);
      }
      await page.getByText(/Looked at 3 times/).waitFor();
      await page.getByRole('button', { name: 'Discard the change' }).click();
      await page.getByRole('heading', { name: /Better/ }).waitFor({ state: 'detached' });
      equal(await page.getByRole('textbox', { name: 'Criterion 1' }).inputValue(), 'The output thanks the customer or says sorry.', 'the criterion after the change was dropped');
    });
  } finally {
    await b.close();
  }
});

test('workbench: by keys only, with the lint, a context and a reload', {}, async () => {
  const b = await bench();
  try {
    await withPage({}, async (page) => {
      await enter(page, b.sv.server, '/judges');
      await to(page, page.getByRole('link', { name: judge.split('#')[0] }).first());
      await page.keyboard.press('Enter');
      await ready(page);
      await to(page, page.getByRole('link', { name: 'Change this judge and compare it on labelled outputs' }));
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'Judge workbench' }).waitFor();
      const runs = page.getByLabel('Run with labels');
      if (await runs.count()) {
        await to(page, runs);
        await page.keyboard.press('ArrowDown');
      }
      const criterion = page.getByRole('textbox', { name: 'Criterion 1' });
      await criterion.waitFor();
      await to(page, criterion);
      await page.keyboard.press('Control+a');
      await page.keyboard.type('The output is appropriate.');
      await page.getByRole('list', { name: 'Wording of criterion 1' }).getByText(/leaves it to the judge/).waitFor();
      equal(await axe(page), [], 'violations with a finding');
      await page.keyboard.press('Control+a');
      await page.keyboard.type('The output strictly promises nothing.');
      await to(page, page.getByLabel(/^Context/));
      await page.keyboard.type('Sources: {{ticket}}');
      await page.reload();
      await ready(page);
      equal(await criterion.inputValue(), 'The output strictly promises nothing.', 'what was typed, after a reload');
      equal(await page.getByLabel(/^Context/).inputValue(), 'Sources: {{ticket}}', 'the context after a reload');
      await to(page, page.getByRole('button', { name: 'Judge again' }));
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: /Better/ }).waitFor();
      ok(b.asked().some((text) => /Sources: T-1\d\d\d/.test(text)), 'the judge does not see the context of the case');
      await to(page, page.getByRole('button', { name: 'Keep as a version of the set' }));
      await page.keyboard.press('Enter');
      await page.getByText('Kept as version 1 of the set tone').waitFor();
      await to(page, page.getByRole('button', { name: 'Discard the change' }), 'Shift+Tab');
      await page.keyboard.press('Space');
      await page.getByRole('heading', { name: /Better/ }).waitFor({ state: 'detached' });
      equal(await page.getByLabel(/^Context/).inputValue(), '', 'the context after the change was dropped');
    });
  } finally {
    await b.close();
  }
});

test('workbench: bad input keeps what was typed', { smoke: true }, async () => {
  const sv = await serve(['support']);
  try {
    await withPage({}, async (page) => {
      const at = `/judges/${encodeURIComponent(judge)}/workbench`;
      await enter(page, sv.server, at);
      await page.getByLabel('Run with labels').waitFor();
      await enter(page, sv.server, `${at}?run=${sv.runs.support}`);
      await page.getByText(/No output of this run has a label/).waitFor();
      await fetch(`${sv.server.url}/v1/labels`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ run: sv.runs.support, index: 0, assertion: 'tone', label: 'pass' }) });
      await enter(page, sv.server, `${at}?run=${sv.runs.support}&assertion=tone`);
      await page.getByRole('textbox', { name: 'Criterion 2' }).fill('typed');
      await page.getByLabel(/^Model/).fill('exec:rm');
      await page.getByRole('button', { name: 'Judge again' }).click();
      await page.getByText(/runs code, reads files/).waitFor();
      equal(await page.getByRole('textbox', { name: 'Criterion 2' }).inputValue(), 'typed', 'what was typed');
      await enter(page, sv.server, `${at}?run=${sv.runs.support}&assertion=tone&trial=trial_none`);
      await page.getByText(/held for an hour/).waitFor();
    });
  } finally {
    await sv.server.stop();
  }
});
