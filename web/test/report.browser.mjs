// The HTML report: one file that works from a disk, without scripts, and in print.
import { statSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { folder, made, proviso, ready, withPage } from './harness.mjs';
import { ok, test } from './tests.mjs';

const reports = new Map();
export async function report(name) {
  if (!reports.has(name)) {
    reports.set(name, (async () => {
      const file = join(folder, `${name}.html`), f = made(name);
      mkdirSync(folder, { recursive: true });
      await proviso(['show', f.path, '-o', file]);
      return { file, url: pathToFileURL(file).href, size: statSync(file).size };
    })());
  }
  return reports.get(name);
}

test('report: the worst case is open on the first screen', { smoke: true }, () => withPage({ width: 1280, height: 720 }, async (page) => {
  await page.goto((await report('support')).url);
  await ready(page);
  for (const text of ['Keep a polite tone.', 'It addresses the customer curtly and blames them.', 'I already told you that.']) {
    const boxes = await page.getByText(text).evaluateAll((all) => all.map((e) => e.getBoundingClientRect()).filter((r) => r.width > 0).map((r) => Math.round(r.bottom)));
    ok(boxes.some((bottom) => bottom > 0 && bottom <= 720), `“${text}” is not inside the first 1280×720: it ends at ${boxes.join(', ') || 'no place'}`);
  }
  ok(await page.locator('mark').filter({ hasText: 'I already told you that.' }).count(), 'the evidence is not marked in the output');
}));

test('report: readable without scripts', { smoke: true }, () => withPage({ javaScriptEnabled: false }, async (page) => {
  await page.goto((await report('support')).url);
  for (const text of ['support-bot', 'It addresses the customer curtly and blames them.', 'I already told you that.']) {
    ok((await page.locator('body').innerText()).includes(text), `${text} is missing`);
  }
}));

test('report: prints', {}, () => withPage({}, async (page) => {
  await page.goto((await report('support')).url);
  await ready(page);
  const pdf = await page.pdf({ format: 'A4' });
  const pages = pdf.toString('latin1').match(/\/Type\s*\/Page\b/g).length;
  ok(pages >= 1 && pages <= 40, `the print has ${pages} pages`);
}));

test('report: no path of this machine', { smoke: true }, async () => {
  const { file } = await report('support');
  ok(!readFileSync(file, 'utf8').includes(folder), 'the report has the path of the run on this machine');
});

test('report: the counts of a run of 5,000 rows', {}, () => withPage({}, async (page) => {
  const f = made('k1');
  await page.goto((await report('k1')).url);
  await ready(page);
  const text = (await page.locator('main').innerText()).replaceAll(/[,\u00a0\u2009\u202f]/g, '');
  for (const status of ['pass', 'fail', 'error']) ok(text.includes(String(f.count[status])), `${f.count[status]} (${status}) is not on the page`);
}));
