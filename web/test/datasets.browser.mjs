// Datasets: cases that are added, removed and compared, by a person and by others at the
// same time.
import { corpus } from './hostile.mjs';
import { axe, enter, made, open, ready, refuse, serve, view, withPage } from './harness.mjs';
import { equal, ok, test, until } from './tests.mjs';

async function api(sv, method, path, body, headers = {}) {
  const reply = await fetch(sv.server.url + path, { method, headers: { ...(body ? { 'Content-Type': 'application/json' } : {}), ...headers }, body: body && JSON.stringify(body) });
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
  return reply.status === 204 ? undefined : reply.json();
}

const lamps = { id: 'lamps', description: 'asks about lamps', vars: { question: 'Can I return a lamp?' }, assert: [{ type: 'icontains', value: '30 days' }] };
const chairs = { id: 'chairs', vars: { question: 'And a chair?' } };

// started is a server with a dataset of two versions.
async function started(runs = []) {
  const sv = await serve(runs);
  await api(sv, 'PUT', '/v1/datasets/returns', { cases: [lamps] });
  await api(sv, 'PUT', '/v1/datasets/returns', { cases: [{ ...lamps, vars: { question: 'May I return a lamp?' } }, chairs] });
  return sv;
}

const main = (page) => page.locator('main').innerText();
const says = (page, what) => until(async () => what.test(await main(page)), `${what} on the page`);
const clean = async (page, what) => equal(await axe(page), [], `axe: ${what}`);
const ids = async (sv, query = '') => (await api(sv, 'GET', `/v1/datasets/returns${query}`)).items.map((c) => c.id);

test('datasets: make one, add cases, remove one and take it back', { smoke: true }, () => withPage({}, async (page) => {
  const sv = await serve([]);
  await enter(page, sv.server, '/datasets');
  await says(page, /There are no datasets yet/);
  await clean(page, 'no datasets');
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('returns');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/datasets\/returns$/);
  await says(page, /This version has no cases/);
  await clean(page, 'no cases');
  await page.getByLabel('Description').fill('asks about lamps');
  await page.getByLabel('Name of variable 1').fill('question');
  await page.getByLabel('Value of variable 1').fill('Can I return a lamp?');
  await page.getByLabel(/^Assertions/).fill('icontains: 30 days');
  await page.getByLabel(/^Id/).fill('lamps');
  await page.getByRole('button', { name: 'Add case' }).click();
  await says(page, /Added lamps\. This is version 2\./);
  equal((await api(sv, 'GET', '/v1/datasets/returns')).items, [{ id: 'lamps', description: 'asks about lamps', vars: { question: 'Can I return a lamp?' }, assert: [{ type: 'icontains', value: '30 days' }] }], 'the case');
  await clean(page, 'a case');
  await page.getByRole('button', { name: 'Remove case lamps' }).click();
  await says(page, /Removed lamps/);
  equal(await ids(sv), [], 'cases after one was removed');
  await page.getByRole('button', { name: 'Undo' }).click();
  await says(page, /The case was restored/);
  equal(await ids(sv), ['lamps'], 'cases after it was taken back');
  await page.goto(`${sv.server.url}/datasets`);
  await ready(page);
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('returns');
  await page.getByRole('button', { name: 'Make dataset' }).click();
  await says(page, /its current version is/);
}));

test('datasets: what is wrong with a case is said, and nothing typed is lost', {}, () => withPage({}, async (page) => {
  const sv = await started();
  await enter(page, sv.server, '/datasets/returns');
  await page.getByLabel('Value of variable 1').fill('typed');
  await page.getByLabel(/^Assertions/).fill('contans: x');
  const add = page.getByRole('button', { name: 'Add case' });
  await add.click();
  await says(page, /unknown assertion type "contans"/);
  await says(page, /Did you mean “contains”/);
  await clean(page, 'a mistake');
  await page.getByLabel(/^Assertions/).fill('[{"type": ');
  await add.click();
  await says(page, /The assertions are not JSON/);
  await page.getByLabel(/^Assertions/).fill('');
  await page.getByLabel(/^Id/).fill('lamps');
  await add.click();
  await says(page, /the id "lamps" is given to more than one case/);
  await refuse(page, '**/v1/datasets/returns/cases');
  await add.click();
  await says(page, /the test refuses this request/i);
  await page.getByLabel('Version').selectOption('1');
  await says(page, /This is version 1, and not the current one/);
  await page.getByRole('button', { name: 'Show the current version' }).click();
  await page.getByLabel('Value of variable 1').waitFor();
  equal([await page.getByLabel('Value of variable 1').inputValue(), await page.getByLabel(/^Id/).inputValue()], ['typed', 'lamps'], 'what was typed');
}));

test('datasets: somebody else changes it while a case is typed', { smoke: true }, () => withPage({}, async (page) => {
  const sv = await started();
  await enter(page, sv.server, '/datasets/returns');
  await page.getByLabel('Value of variable 1').fill('And a bed?');
  await page.getByLabel(/^Id/).fill('beds');
  await page.reload();
  await ready(page);
  equal([await page.getByLabel('Value of variable 1').inputValue(), await page.getByLabel(/^Id/).inputValue()], ['And a bed?', 'beds'], 'what was typed, after a reload');
  await api(sv, 'POST', '/v1/datasets/returns/cases', { cases: [{ id: 'sofas', vars: { question: 'And a sofa?' } }] });
  await page.getByRole('button', { name: 'Add case' }).click();
  await says(page, /Changed by somebody else/);
  await clean(page, 'a conflict');
  equal(await ids(sv), ['lamps', 'chairs', 'sofas'], 'cases after the conflict');
  await page.getByRole('button', { name: 'Show what changed' }).click();
  await says(page, /1 added, 0 removed, 0 changed, 2 the same/);
  await page.getByRole('button', { name: 'Remove case sofas' }).waitFor(); // the new version is on the page
  equal(await page.getByLabel('Value of variable 1').inputValue(), 'And a bed?', 'what was typed');
  await page.getByRole('button', { name: 'Add it to version 3' }).click();
  await says(page, /Added beds\. This is version 4\./);
  equal(await ids(sv), ['lamps', 'chairs', 'sofas', 'beds'], 'cases at the end');
}));

test('datasets: versions, what changed, and downloads', {}, () => withPage({}, async (page) => {
  const sv = await started();
  await enter(page, sv.server, '/datasets/returns');
  await says(page, /1 added, 0 removed, 1 changed, 0 the same/);
  await page.locator('summary', { hasText: 'lamps' }).last().click();
  await page.locator('del', { hasText: 'Can' }).waitFor();
  await page.locator('ins', { hasText: 'May' }).waitFor();
  await clean(page, 'a difference');
  await page.getByLabel('Version').selectOption('1');
  await page.waitForURL(/version=1/);
  await says(page, /not the current one/);
  equal(await page.getByRole('button', { name: /^Remove case/ }).count(), 0, 'buttons that change an old version');
  await clean(page, 'an old version');
  for (const [name, part] of [['Download JSONL', '{"id":"lamps"'], ['YAML', '- id: lamps'], ['CSV', 'question,__description,__expected']]) {
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name, exact: true }).click()]);
    const parts = [];
    for await (const p of await download.createReadStream()) parts.push(p);
    ok(Buffer.concat(parts).toString().startsWith(part), `${name}: ${Buffer.concat(parts).toString().slice(0, 80)}`);
  }
  await page.goto(`${sv.server.url}/datasets/returns?version=9`);
  await says(page, /There is no version 9 of dataset "returns"; its versions are 1 to 2/);
  await page.goto(`${sv.server.url}/datasets/retuns`);
  await says(page, /did you mean "returns"/);
  await clean(page, 'no such dataset');
}));

test('datasets: pages of a large one', {}, () => withPage({}, async (page) => {
  const sv = await serve([]);
  await api(sv, 'PUT', '/v1/datasets/returns', { cases: Array.from({ length: 120 }, (_, n) => ({ id: `case ${n}`, vars: { n: String(n) } })) });
  await enter(page, sv.server, '/datasets/returns');
  await says(page, /50 of 120 cases on this page/);
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByRole('rowheader', { name: 'case 50', exact: true }).waitFor();
  await page.reload();
  await page.getByRole('rowheader', { name: 'case 99', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Next page' }).click();
  await says(page, /20 of 120 cases on this page/);
  await page.getByRole('button', { name: 'First page' }).click();
  await page.getByRole('rowheader', { name: 'case 0', exact: true }).waitFor();
}));

test('datasets: the failures of a run', { smoke: true }, () => withPage({}, async (page) => {
  const sv = await started(['support']);
  await enter(page, sv.server, `/runs/${sv.runs.support}`);
  await page.getByRole('link', { name: 'Add failures to a dataset' }).click();
  await page.waitForURL(/\/datasets\?run=/);
  await page.getByRole('button', { name: 'Add failures' }).waitFor();
  await clean(page, 'adding failures');
  await page.getByRole('combobox', { name: 'Dataset' }).selectOption('');
  await page.getByLabel('Name of the new dataset').fill('failures');
  await page.keyboard.press('Enter');
  await says(page, /cases? added/);
  await clean(page, 'added failures');
  const n = (await api(sv, 'GET', '/v1/datasets/failures')).cases;
  ok(n > 0, 'no failures were added');
  await page.getByRole('button', { name: 'Add failures' }).click();
  await says(page, new RegExp(`Nothing was added; ${n} (was|were) in the dataset already`));
  await page.getByRole('link', { name: /failures, version 2/ }).click();
  await page.getByRole('heading', { level: 1, name: 'failures' }).waitFor();
}));

test('datasets: by keyboard alone', {}, () => withPage({}, async (page) => {
  const sv = await started();
  await enter(page, sv.server, '/datasets');
  const reach = async (what) => {
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press('Tab');
      if (await what.evaluate((e) => e === document.activeElement)) return;
    }
    throw new Error('the keyboard does not reach the control');
  };
  await reach(page.getByRole('link', { name: 'returns', exact: true }));
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/datasets\/returns$/);
  await ready(page);
  await reach(page.getByRole('button', { name: 'Remove case chairs' }));
  await page.keyboard.press('Enter');
  await says(page, /Removed chairs/);
  await reach(page.getByLabel('Value of variable 1'));
  await page.keyboard.type('And a bed?');
  await reach(page.getByRole('button', { name: 'Add case' }));
  await page.keyboard.press('Enter');
  await says(page, /This is version 4/);
}));

test('datasets: hostile texts', { smoke: true }, () => withPage({}, async (page) => {
  const sv = await serve([]);
  const text = (n) => corpus[n].text.slice(0, 2000).toWellFormed?.() ?? corpus[n].text.slice(0, 2000);
  const cases = (more) => corpus.filter((c) => c.text).map((c, n) => ({ id: `${n}${text(corpus.indexOf(c)).replace(/[\u0000-\u001f\u007f-\u009f]/g, '').slice(0, 40)}`, description: text(corpus.indexOf(c)), vars: { [text(corpus.indexOf(c)).slice(0, 60)]: text(corpus.indexOf(c)) + more }, assert: [{ type: 'contains', value: text(corpus.indexOf(c)) }] }));
  await api(sv, 'PUT', '/v1/datasets/hostile', { cases: cases('') });
  await api(sv, 'PUT', '/v1/datasets/hostile', { cases: cases(' more') });
  await enter(page, sv.server, '/datasets/hostile');
  await says(page, /<script>/);
  for (const summary of await page.locator('details > summary').all()) await summary.click();
  const trouble = await page.evaluate(() => [...document.querySelectorAll('main iframe, main img, main svg image, main script, main base, main meta')].map((e) => e.outerHTML.slice(0, 100)));
  equal(trouble, [], 'elements from the text of cases');
  await page.goto(`${sv.server.url}/datasets?run=${encodeURIComponent('<img src=x onerror=alert(1)>')}`);
  await page.getByRole('button', { name: 'Add failures' }).click();
  await says(page, /there is no run/i);
}));

test('datasets: narrow, dark, and without a server', {}, async () => {
  const sv = await started();
  const o = await open({ width: 360, height: 740, theme: 'dark' });
  try {
    for (const path of ['/datasets', '/datasets/returns']) {
      await enter(o.page, sv.server, path);
      await clean(o.page, `${path} on a phone`);
      ok(await o.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${path} is wider than the screen`);
    }
    await refuse(o.page, '**/v1/datasets?**');
    await o.page.goto(`${sv.server.url}/datasets`);
    await until(async () => /the test refuses this request/i.test(await main(o.page)), 'the problem');
    await clean(o.page, 'a problem');
  } finally { await o.close(); }
  await withPage({}, async (page) => {
    await enter(page, await view('support'), '/datasets');
    await says(page, /proviso view shows runs of this machine and keeps no datasets/);
    equal(await page.getByRole('button', { name: 'Make dataset' }).count(), 0, 'forms that cannot work');
    await clean(page, 'proviso view');
  });
  ok(made('support').id, 'a run');
});
