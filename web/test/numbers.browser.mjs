// The numbers on every page are those of the JSON report, of JUnit and of CSV, and every
// state of a page is its address.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { enter, folder, made, proviso, ready, view, withPage } from './harness.mjs';
import { equal, ok, test, until } from './tests.mjs';
import { ids } from './app.browser.mjs';
import { report } from './report.browser.mjs';
import { counts, drawer, screens, words } from './screens.mjs';

const shown = ['support', 'before', 'repeats', 'passed'];

// truth reads what the other formats say of a run, and compares them with each other.
const truths = new Map();
function truth(name) {
  if (!truths.has(name)) truths.set(name, read(name));
  return truths.get(name);
}

async function read(name) {
  const f = made(name, shown.join('+')), file = (ext) => join(folder, `${name}.${ext}`);
  await proviso(['show', f.path, ...['json', 'csv', 'junit.xml'].flatMap((ext) => ['-o', file(ext)])]);
  const rows = JSON.parse(readFileSync(file('json'), 'utf8')).results.results;
  const want = tally(rows.map((r) => r.verdict));
  const suite = /<testsuites[^>]*>/.exec(readFileSync(file('junit.xml'), 'utf8'))[0], number = (n) => Number(new RegExp(` ${n}="(\\d+)"`).exec(suite)[1]);
  equal({ tests: number('tests'), failures: number('failures'), errors: number('errors'), skipped: number('skipped') }, { tests: rows.length, failures: want.fail, errors: want.error, skipped: want.skip }, 'JUnit beside JSON');
  const [head, ...lines] = csv(readFileSync(file('csv'), 'utf8')), at = head.flatMap((h, i) => (h === 'Status' ? [i] : []));
  const statuses = lines.flatMap((line) => at.map((i) => line[i].toLowerCase()).filter(Boolean));
  if (rows.every((r) => !r.repeat)) equal(tally(statuses), want, 'CSV beside JSON'); // repeats share a cell there
  const assertions = new Map();
  for (const component of rows.flatMap((r) => r.gradingResult?.componentResults ?? [])) {
    const key = component.assertion.metric ?? component.assertion.id;
    assertions.set(key, [...(assertions.get(key) ?? []), component.status]);
  }
  // A cell with repeats has its worst verdict.
  const cells = new Map(), worst = ['fail', 'error', 'pass', 'skip'];
  for (const r of rows) cells.set(r.caseId + r.promptIdx, { id: r.caseId, at: Math.min(worst.indexOf(r.verdict), cells.get(r.caseId + r.promptIdx)?.at ?? 9) });
  const cases = (status) => new Set([...cells.values()].filter((c) => worst[c.at] === status).map((c) => c.id)).size;
  return { f, rows, want, cases, assertions: new Map([...assertions].map(([key, list]) => [key, tally(list)])) };
}

const tally = (list) => Object.fromEntries(['pass', 'fail', 'error', 'skip'].map((s) => [s, list.filter((x) => x === s).length]));

// csv reads RFC 4180.
function csv(text) {
  const lines = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    lines.at(-1).push(quoted?.replaceAll('""', '"') ?? plain);
    if (end.includes('\n')) lines.push([]);
  }
  return lines.filter((line) => line.length > 1);
}

const asked = (t) => t.pass + t.fail + t.error;
const percent = (share) => (share > 0 && share < 0.01 ? '< 1 %' : share > 0.99 && share < 1 ? '> 99 %' : `${Math.round(100 * share)} %`);
const textOf = async (of) => (await of.innerText()).replaceAll(/\s+/g, ' ');

// shows compares the view of a run with the truth: counts, columns, assertions, and what
// each filter leaves.
async function shows(page, t, what) {
  equal(await counts(page), t.want, `${what}: counts`);
  const grid = page.getByRole('grid'), rows = async () => Number(await grid.getAttribute('aria-rowcount')) - 1;
  const columns = [...new Set(t.rows.map((r) => r.promptIdx))].map((j) => tally(t.rows.filter((r) => r.promptIdx === j).map((r) => r.verdict)));
  for (const [j, c] of columns.entries()) {
    const name = await grid.getByRole('columnheader').nth(j + 1).getAttribute('aria-label');
    ok(name.includes(`${percent(c.pass / asked(c))} pass · ${percent(c.fail / asked(c))} fail`) && name.includes(`n = ${asked(c)}`), `${what}: column ${j} has ${JSON.stringify(c)}, and the page says: ${name}`);
  }
  for (const [name, a] of t.assertions) {
    const cells = await page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) }).getByRole('cell').allInnerTexts();
    equal([cells[0], cells[3], cells[4]], [percent(a.pass / asked(a)), String(a.fail), String(a.error)], `${what}: rate, failed and errors of ${name}`);
  }
  for (const status of ['fail', 'error', 'pass', 'skip'].filter((s) => t.want[s])) {
    const filter = page.getByRole('button', { name: words[status] });
    await filter.click();
    await until(async () => (await filter.getAttribute('aria-pressed')) === 'true', `the filter ${status}`);
    await until(async () => (await rows()) === t.cases(status), `${what}: ${t.cases(status)} cases with ${status}`, 20_000);
    await filter.click();
  }
}

for (const name of ['support', 'repeats', 'passed']) {
  test(`numbers: ${name}, a run and its report beside JSON, JUnit and CSV`, { smoke: name === 'support' }, () => withPage({}, async (page) => {
    const t = await truth(name);
    await enter(page, await view(...shown), `/runs/${t.f.id}`);
    await shows(page, t, 'the run');
    await page.goto((await report(name)).url);
    await ready(page);
    await shows(page, t, 'the report');
  }));

  test(`numbers: ${name}, the report without scripts`, { smoke: name === 'support' }, () => withPage({ javaScriptEnabled: false }, async (page) => {
    const t = await truth(name);
    await page.goto((await report(name)).url);
    const totals = await page.getByRole('region', { name: 'Totals' }).getByRole('listitem').allInnerTexts();
    const number = (word) => Number(/\d[\d,]*/.exec(totals.find((text) => word.test(text)) ?? '0')[0].replaceAll(',', ''));
    equal({ pass: number(/\d passed/), fail: number(/failed/), error: number(/error/i), skip: number(/skipped/i) }, t.want, 'totals');
    ok(totals.some((text) => text.includes(`n = ${asked(t.want)}`)), `errors are not in the denominator: ${totals.join(' | ')}`);
    for (const [assertion, a] of t.assertions) {
      const cells = await page.getByRole('region', { name: 'Pass rates of assertions' }).getByRole('row').filter({ hasText: assertion }).first().getByRole('cell').allInnerTexts();
      equal([cells[0].startsWith(percent(a.pass / asked(a))), ...cells.slice(1)], [true, String(a.fail), String(a.error), `${a.pass} of ${asked(a)}`], `rate, failed, errors and passed of ${assertion}: ${cells[0]}`);
    }
  }));
}

test('numbers: the runs beside JSON', { smoke: true }, () => withPage({}, async (page) => {
  await enter(page, await view(...shown), '/runs');
  for (const name of shown) {
    const t = await truth(name), row = page.getByRole('row').filter({ hasText: t.f.id }), text = await textOf(row);
    if (t.want.fail) ok(text.includes(`${t.want.fail} failed`), `${name}: ${t.want.fail} failed, and the row says: ${text}`);
    if (t.want.error) ok(new RegExp(`\\b${t.want.error} errors?\\b`).test(text), `${name}: ${t.want.error} errors, and the row says: ${text}`);
    if (!t.want.fail && !t.want.error) ok(text.includes('All passed'), `${name}: all passed, and the row says: ${text}`);
    const n = asked(t.want);
    ok(n < 30 ? text.includes(`${t.want.pass} of ${n}`) : text.includes(percent(t.want.pass / n)) && text.includes(`n ${n}`), `${name}: ${t.want.pass} of ${n}, and the row says: ${text}`);
  }
}));

test('numbers: an assertion over runs beside JSON', { smoke: true }, () => withPage({}, async (page) => {
  const server = await view(...shown);
  for (const name of ['tone', 'short']) {
    await enter(page, server, `/assertions?suite=support-bot&a=${name}`);
    for (const run of ['support', 'before']) {
      const t = await truth(run), a = t.assertions.get(name);
      const row = page.getByRole('row').filter({ has: page.locator(`a[href*="${t.f.id}"]`) });
      const cells = [await row.getByRole('rowheader').allInnerTexts(), await row.getByRole('cell').allInnerTexts()].flat();
      equal(cells.slice(-4), [a.pass, a.fail, a.error, a.skip].map(String), `${name} in ${run}: passed, failed, errors, skipped`);
    }
  }
  await enter(page, server, '/assertions?suite=support-bot');
  const t = await truth('support');
  for (const [name, a] of t.assertions) {
    const text = await textOf(page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) }));
    ok(text.includes(percent(a.pass / asked(a))) && text.includes(`n ${asked(a)}`), `${name} has ${JSON.stringify(a)}, and the row says: ${text}`);
    if (a.fail) ok(new RegExp(`\\b${a.fail} cases?\\b`).test(text), `${name} has ${a.fail} failed, and the row says: ${text}`);
  }
}));

test('address: a filter is in it, a reload keeps it, back removes it', { smoke: true }, () => withPage({}, async (page) => {
  await enter(page, await view(...shown), `/runs/${ids().run}`);
  const plain = page.url(), rows = () => page.getByRole('grid').getAttribute('aria-rowcount');
  await page.getByRole('button', { name: words.error }).or(page.getByRole('radio', { name: words.error })).first().click();
  await until(() => page.url() !== plain, 'the filter in the address');
  const filtered = page.url(), n = await rows();
  await page.reload();
  await ready(page);
  equal(page.url(), filtered, 'the address after a reload');
  await until(async () => (await rows()) === n, `${n} rows after a reload`);
  await page.goBack();
  await until(() => page.url() === plain, 'the address without the filter');
  await until(async () => (await rows()) !== n, 'more rows without the filter');
}));

test('address: an open case is in it, and a reload opens it', { smoke: true }, () => withPage({}, async (page) => {
  await enter(page, await view(...shown), `/runs/${ids().run}`);
  const plain = page.url();
  await page.getByRole('gridcell').nth(1).click();
  const box = drawer(page);
  await box.waitFor();
  await until(() => page.url() !== plain, 'the case in the address');
  const heading = await box.getByRole('heading').first().innerText();
  await page.reload();
  await ready(page);
  equal(await box.getByRole('heading').first().innerText(), heading, 'the case after a reload');
  await page.goBack();
  await until(() => page.url() === plain, 'the address without the case');
  await page.getByText('The worst case of this run is open.').waitFor();
}));

for (const s of screens.filter((s) => s.name !== 'docs')) {
  test(`links: ${s.name}`, { smoke: ['runs', 'run', 'compare'].includes(s.name) }, () => withPage({}, async (page) => {
    const server = await view(...shown);
    await enter(page, server, s.path(ids()));
    await page.evaluate(() => { navigator.clipboard.writeText = async (text) => { window.copied = text; }; }); // the clipboard is one for all tests
    await page.getByRole('button', { name: 'Copy link' }).first().click();
    await until(() => page.evaluate(() => window.copied !== undefined), 'the copied link');
    equal(await page.evaluate(() => window.copied), page.url(), 'the copied link');
    if (['settings', 'playground', 'spade'].includes(s.name)) return; // what there is to download has no address
    const download = page.getByRole('link', { name: /download|json|csv/i }).first();
    const reply = await page.request.get(new URL(await download.getAttribute('href'), page.url()).href);
    equal(reply.status(), 200, `status of ${await download.getAttribute('href')}`);
    ok((await reply.body()).length > 2, 'the download is empty');
  }));
}
