// The numbers on the page are those of the JSON report and of JUnit, and every state of
// a page is its address.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { enter, folder, made, proviso, ready, view, withPage } from './harness.mjs';
import { equal, ok, test, until } from './tests.mjs';
import { ids } from './app.browser.mjs';
import { report } from './report.browser.mjs';
import { counts, drawer, screens, words } from './screens.mjs';

const shown = ['support', 'before', 'repeats', 'passed'];

for (const name of ['support', 'repeats', 'passed']) {
  test(`numbers: ${name} on the page, in JSON and in JUnit`, { smoke: name === 'support' }, () => withPage({}, async (page) => {
    const f = made(name, shown.join('+')), json = join(folder, `${name}.json`), junit = join(folder, `${name}.junit.xml`);
    await proviso(['show', f.path, '-o', json, '-o', junit]);
    const rows = JSON.parse(readFileSync(json, 'utf8')).results.results.map((r) => r.verdict);
    const want = Object.fromEntries(['pass', 'fail', 'error', 'skip'].map((s) => [s, rows.filter((r) => r === s).length]));
    const suite = /<testsuites[^>]*>/.exec(readFileSync(junit, 'utf8'))[0], number = (n) => Number(new RegExp(`${n}="(\\d+)"`).exec(suite)?.[1] ?? 0);
    equal({ tests: number('tests'), failures: number('failures'), errors: number('errors') }, { tests: rows.length, failures: want.fail, errors: want.error }, 'JUnit beside JSON');
    await enter(page, await view(...shown), `/runs/${f.id}`);
    equal(await counts(page), want, 'the run, beside JSON');
    await page.goto((await report(name)).url);
    await ready(page);
    equal(await counts(page), want, 'the report, beside JSON');
  }));
}

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
  test(`links: ${s.name}`, { smoke: s.smoke }, () => withPage({ permissions: ['clipboard-read', 'clipboard-write'] }, async (page) => {
    const server = await view(...shown);
    await enter(page, server, s.path(ids()));
    await page.getByRole('button', { name: 'Copy link' }).first().click();
    equal(await page.evaluate(() => navigator.clipboard.readText()), page.url(), 'the copied link');
    if (s.name === 'settings') return;
    const download = page.getByRole('link', { name: /download|json|csv/i }).first();
    const reply = await page.request.get(new URL(await download.getAttribute('href'), page.url()).href);
    equal(reply.status(), 200, `status of ${await download.getAttribute('href')}`);
    ok((await reply.body()).length > 2, 'the download is empty');
  }));
}
