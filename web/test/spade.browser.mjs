// Assertions for a prompt: proposed, tried on outputs that a person labels, and selected.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { axe, enter, folder, layoutRules, proviso, ready, refuse, serve, to, view, withPage } from './harness.mjs';
import { corpus } from './hostile.mjs';
import { equal, ok, test, until } from './tests.mjs';

const names = ['bakeryBefore', 'bakery'];
const main = (page) => page.locator('main').innerText();
const says = (page, what) => until(async () => what.test(await main(page)), `${what} on the page`);
const output = (page, n) => page.locator('.outputs > li').nth(n);
const candidate = (page, name) => page.locator('.candidates > li').filter({ has: page.getByRole('heading', { name }) });
const label = (page, n, word) => output(page, n).getByRole('button', { name: word }).click();

async function login(page, sv, key, path) {
  await page.goto(`${sv.server.url}/login?next=${encodeURIComponent(path)}`);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.waitForURL((u) => u.pathname !== '/login');
  await ready(page);
}

async function newKey(sv, name, scope) {
  return /pvk_\S+/.exec((await proviso(['key', 'create', name, '--db', sv.db, '--scope', scope])).stdout)[0];
}

async function saved(page, button) {
  const [file] = await Promise.all([page.waitForEvent('download'), button.click()]);
  return [file.suggestedFilename(), readFileSync(await file.path(), 'utf8')];
}

test('spade: a prompt of the runs has candidates', { smoke: true }, () => withPage({}, async (page) => {
  await enter(page, await view(...names), '/spade?prompt=answers');
  await says(page, /excludes_unfortunately/);
  ok(/Be friendly\./.test(await main(page)) && /proviso spade run/.test(await main(page)), 'the page does not say what a model would add');
}));

test('spade: from a prompt to a set', {}, () => withPage({}, async (page) => {
  const sv = await serve(names, { key: 'admin' });
  await login(page, sv, sv.key, '/prompts?name=answers&suite=bakery');
  await page.getByRole('link', { name: 'Propose assertions for it' }).click();
  await ready(page);
  await says(page, /neither good nor bad/);
  for (const [n, word] of [[0, 'Good'], [1, 'Bad'], [2, 'Good'], [3, 'Bad'], [4, 'Good'], [5, 'Bad']]) await label(page, n, word);
  await says(page, /3 of 3 bad outputs caught, 0 of 3 good outputs failed\. It is proven/);
  ok(/Catches[^;.]*/.test(await candidate(page, /excludes_unfortunately/).innerText()), 'what a candidate catches');

  // Labels are stored: a reload shows them.
  await page.reload();
  await ready(page);
  await says(page, /3 of 3 bad outputs caught/);

  // A sentence leads to its candidates.
  await page.getByRole('link', { name: /Never say/ }).click();
  await until(async () => (await page.locator('.candidates > li').count()) === 1, 'one candidate');
  await page.getByRole('link', { name: /Be friendly/ }).click();
  await says(page, /A model may; see below/);
  await page.getByRole('button', { name: 'Show all candidates' }).click();

  // Rejecting changes the selection and the address; going back undoes it.
  await candidate(page, /excludes_unfortunately/).getByRole('button', { name: 'Reject' }).click();
  await until(() => /reject=excludes_unfortunately/.test(page.url()), 'the choice in the address');
  await says(page, /2 of 3 bad outputs caught/);
  equal((await saved(page, page.getByRole('button', { name: 'Download assertions' }).first()))[1].includes('excludes_unfortunately'), false, 'a rejected candidate in the suite');
  await page.goBack();
  await says(page, /3 of 3 bad outputs caught/);
  await candidate(page, /excludes_unfortunately/).getByRole('button', { name: 'Accept' }).click();
  await until(() => /keep=excludes_unfortunately/.test(page.url()), 'the choice in the address');

  const [file, suite] = await saved(page, page.getByRole('button', { name: 'Download assertions' }).first());
  equal(file, 'selected.yaml', 'the name of the file');
  ok(suite.includes('excludes_unfortunately'), `the suite is ${suite}`);
  const [, versions] = await saved(page, page.getByRole('button', { name: 'Download versions' }));
  equal(versions.trim().split('\n').length, 2, 'versions in the file');

  await page.getByLabel('Name of the assertion set').fill('answers');
  await page.getByRole('button', { name: 'Save as set' }).click();
  await says(page, /Saved as version 1 of the set answers/);
  await page.getByRole('button', { name: 'Save as set' }).click();
  await says(page, /A set of this name exists/);
  await page.getByRole('button', { name: 'Save as a new version' }).click();
  await says(page, /Saved as version 1/); // the same content makes no new version
  const set = await (await fetch(`${sv.server.url}/v1/assertion-sets/answers`, { headers: { Authorization: `Bearer ${sv.key}` } })).json();
  ok(set.assertions.some((a) => a.id === 'excludes_unfortunately'), `the set is ${JSON.stringify(set)}`);
}));

test('spade: axe in every theme and width, with labels', {}, () => withPage({}, async (page) => {
  const sv = await serve(names);
  for (const theme of ['light', 'dark']) {
    for (const [width, height] of [[1440, 900], [768, 1024], [320, 640]]) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: theme });
      for (const path of ['/spade', '/spade?prompt=answers', '/spade?prompt=answers&s=3&o=nothing', '/spade?prompt=answers&run=none', '/spade?of=texts']) {
        await enter(page, sv.server, path);
        if (path.endsWith('answers')) {
          if (!/of 1 bad output caught/.test(await main(page))) {
            await label(page, 0, 'Good');
            await label(page, 1, 'Bad');
          }
          await says(page, /of 1 bad output caught/);
          await page.getByText('Assertion', { exact: true }).first().click();
        }
        equal(await axe(page, width === 768 ? layoutRules : undefined), [], `violations of ${path} at ${width} px, ${theme}`);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        ok(wide <= 0, `${path} is ${wide} px wider than ${width} px`);
      }
    }
  }
}));

test('spade: with the keyboard only', {}, () => withPage({}, async (page) => {
  const sv = await serve(names);
  await enter(page, sv.server, '/spade?prompt=answers');
  const reach = async (name) => {
    for (let i = 0; i < 200; i++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate((name) => (document.activeElement?.textContent ?? '').startsWith(name), name)) return;
    }
    throw new Error(`Tab does not reach ${name}`);
  };
  await reach('✓1');
  await page.keyboard.press('Enter');
  await says(page, /Show all candidates/);
  await reach('Reject');
  await page.keyboard.press('Enter');
  await until(() => /reject=/.test(page.url()), 'the choice in the address');
  await reach('Bad');
  await page.keyboard.press('Space');
  await until(async () => /✕ Bad/.test(await output(page, 0).innerText()), 'the label');
  // The rest of the way: from the list of prompts to a suite in a file and to a set.
  await enter(page, sv.server, '/spade');
  await to(page, page.getByRole('link', { name: 'answers' }).first());
  await page.keyboard.press('Enter');
  await says(page, /of 1 bad output|bad only/);
  await to(page, output(page, 0).getByRole('button', { name: 'Good' }));
  await page.keyboard.press('Enter');
  await to(page, output(page, 1).getByRole('button', { name: 'Bad' }));
  await page.keyboard.press('Enter');
  await says(page, /1 of 1 bad output caught, 0 of 1 good output failed/);
  const download = page.getByRole('button', { name: 'Download suite' }).last();
  await to(page, download);
  const [file] = await Promise.all([page.waitForEvent('download'), page.keyboard.press('Enter')]);
  equal(file.suggestedFilename(), 'suite.yaml', 'the name of the file');
  await to(page, page.getByLabel('Name of the assertion set'));
  await page.keyboard.press('Control+a');
  await page.keyboard.type('by-keys');
  await page.keyboard.press('Enter');
  await says(page, /Saved as version 1 of the set by-keys/);
  // A pasted prompt.
  await enter(page, sv.server, '/spade');
  await to(page, page.getByLabel(/Versions of the prompt/));
  await page.keyboard.type('Never say "no".');
  await to(page, page.getByLabel(/Outputs: JSON Lines/));
  await page.keyboard.type('no');
  await to(page, page.getByRole('button', { name: 'Propose assertions' }));
  await page.keyboard.press('Enter');
  await says(page, /neither good nor bad/);
  await to(page, output(page, 0).getByRole('button', { name: 'Bad' }));
  await page.keyboard.press('Enter');
  await says(page, /✕ Bad/);
}));

test('spade: pasted texts stay, and mistakes in them are named', {}, () => withPage({}, async (page) => {
  await enter(page, await view(...names), '/spade');
  const versions = page.getByLabel(/Versions of the prompt/), outputs = page.getByLabel(/Outputs: JSON Lines/), propose = page.getByRole('button', { name: 'Propose assertions' });
  await propose.click();
  await says(page, /Paste at least one version/);
  await versions.fill('Be kind.\n---\nBe kind.\nNever say "no".');
  await outputs.fill('{"output": "no", "label": "bad"}\n{"output": "yes", "label": "maybe"}');
  await propose.click();
  await says(page, /Line 2 of the outputs has the label maybe; good or bad is expected/);
  await outputs.fill('{"output": "no", "label": "bad"}\n{"output": "yes", "label": "good"}');
  await propose.click();
  await says(page, /1 of 1 bad output caught/);
  await says(page, /pasted outputs are not stored/);
  await label(page, 1, 'Bad');
  await says(page, /bad only/);
  await page.getByRole('link', { name: 'Change the texts' }).click();
  equal(await versions.inputValue(), 'Be kind.\n---\nBe kind.\nNever say "no".', 'the versions');
  await page.goBack();
  await says(page, /bad only/);
  await page.waitForTimeout(500); // what is typed is kept a moment later
  await page.reload();
  await says(page, /bad only/);
  await page.getByRole('link', { name: 'Change the texts' }).click();
  equal(await outputs.inputValue(), '{"output": "no", "label": "bad"}\n{"output": "yes", "label": "good"}', 'the outputs after a reload');
  await outputs.fill('{"output": "no", "label": "bad"}'); // the output that was labelled is gone
  await propose.click();
  await says(page, /bad only/);
  await page.getByRole('link', { name: 'Change the texts' }).click();
  await outputs.pressSequentially('x');
  await page.reload(); // at once
  equal(await outputs.inputValue(), '{"output": "no", "label": "bad"}x', 'the last key before a reload');
  await page.getByLabel(/one for each version/).setInputFiles([{ name: 'v10.txt', mimeType: 'text/plain', buffer: Buffer.from('Never say "b".') }, { name: 'v2.txt', mimeType: 'text/plain', buffer: Buffer.from('Never say "a".') }]);
  await until(async () => (await versions.inputValue()) === 'Never say "a".\n---\nNever say "b".\n', 'the files in their order');
}));

test('spade: a downloaded suite runs', {}, () => withPage({}, async (page) => {
  await enter(page, await view(...names), '/spade');
  await page.getByLabel(/Versions of the prompt/).fill('Never say "no".\n{{q}}');
  await page.getByLabel(/Outputs: JSON Lines/).fill('{"id": "one", "output": "no", "label": "bad", "vars": {"q": "a"}}\n{"id": "two", "output": "yes {{ 7 * 7 }}", "label": "good", "vars": {"q": "b"}}\n{"id": "three", "output": "yes", "vars": {"q": "{{ env.HOME }}"}}');
  await page.getByRole('button', { name: 'Propose assertions' }).click();
  await says(page, /1 of 1 bad output caught/);
  const [name, text] = await saved(page, page.getByRole('button', { name: 'Download suite' }).first());
  equal(name, 'suite.yaml', 'the name of the file');
  const at = join(folder, 'downloaded'), report = join(at, 'out.json');
  mkdirSync(at, { recursive: true });
  writeFileSync(join(at, name), text);
  await proviso(['eval', '-c', join(at, name), '--no-cache', '-o', report]).catch((e) => { if (e.code !== 1) throw e; });
  const rows = JSON.parse(readFileSync(report, 'utf8')).results.results;
  equal(rows.map((r) => [r.testCase.description, r.response.output, r.verdict]), [['one, labelled bad', 'no', 'fail'], ['two, labelled good', 'yes {{ 7 * 7 }}', 'pass']], 'the rows');
  ok(/Left out: 1 output/.test(text), text);
}));

test('spade: hostile texts', {}, () => withPage({}, async (page) => {
  await enter(page, await view(...names), '/spade');
  const texts = corpus.map((c) => c.text).filter((t) => t.length < 1000 && t.trim());
  await page.getByLabel(/Versions of the prompt/).fill(texts.map((t) => `Never say "${t.replaceAll('"', "'")}".`).join('\n') + '\n---\n' + texts.join('\n'));
  await page.getByLabel(/Outputs: JSON Lines/).fill(texts.map((t, i) => JSON.stringify({ id: `${i} ${t.slice(0, 80)}`.replace(/[\r\n\0]/g, ' '), output: t, label: i % 2 ? 'good' : 'bad' })).join('\n'));
  await page.getByRole('button', { name: 'Propose assertions' }).click();
  await ready(page);
  await until(async () => /The newest version/.test(await main(page)), 'the answer', 20_000).catch(async () => { throw new Error(await main(page)); });
  await page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
  equal(await axe(page, layoutRules), [], 'violations');
}));

test('spade: mistakes, sessions that end, and keys that may not label', {}, () => withPage({}, async (page) => {
  const sv = await serve(names, { key: 'admin' });
  const reader = await newKey(sv, 'reader', 'read');
  await login(page, sv, reader, '/spade?prompt=answers&reject=excludes_unfortunatly');
  await says(page, /no candidate is called "excludes_unfortunatly"; did you mean "excludes_unfortunately"\?/i);
  await page.getByRole('button', { name: 'Forget what was accepted and rejected' }).click();
  await says(page, /your key may not write labels/);
  await says(page, /Sets are saved on a server, with a key/);
  await label(page, 0, 'Good');
  await label(page, 1, 'Bad');
  await says(page, /1 of 1 bad output caught/);
  const list = await (await fetch(`${sv.server.url}/v1/labels`, { headers: { Authorization: `Bearer ${sv.key}` } })).json();
  equal(list.items.length, 0, 'labels that were stored');

  // The server refuses the next question: what was there stays.
  await refuse(page, '**/v1/spade');
  await label(page, 2, 'Good');
  await says(page, /As of .*the test refuses this request/);
  ok(/excludes_unfortunately/.test(await main(page)), 'the candidates are gone');
  await page.unroute('**/v1/spade');
  await page.getByRole('button', { name: 'Try again' }).click();
  await says(page, /0 of 2 good outputs failed/);

  await proviso(['key', 'revoke', 'reader', '--db', sv.db]);
  await label(page, 3, 'Bad');
  await page.getByText(/your session has ended/).first().waitFor();
  ok(/excludes_unfortunately/.test(await main(page)), 'the candidates are gone after the session ended');
}));

test('spade: two tabs label the same run', {}, () => withPage({}, async (page, { context }) => {
  const sv = await serve(names);
  await enter(page, sv.server, '/spade?prompt=answers');
  await label(page, 0, 'Good');
  await label(page, 1, 'Bad');
  await says(page, /1 of 1 bad output caught/);
  const others = await (await fetch(`${sv.server.url}/v1/labels?assertion=`)).json();
  equal(others.items.map((l) => l.label).sort(), ['fail', 'pass'], 'labels');
  await fetch(`${sv.server.url}/v1/labels`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ run: sv.runs.bakery, index: 3, assertion: '', label: 'fail' }) });
  await page.reload();
  await ready(page);
  await says(page, /2 of 2 bad outputs caught/);
}));

test('spade: view writes labels beside the runs', {}, () => withPage({}, async (page) => {
  await enter(page, await view(...names), '/spade?prompt=answers');
  await label(page, 1, 'Bad');
  await until(() => { try { return readFileSync(join(folder, 'runs', names.join('+'), 'labels.jsonl'), 'utf8').includes('"fail"'); } catch { return false; } }, 'the label in the file');
  await says(page, /Sets are saved on a server/);
}));
