// The HTML report: one file that works from a disk, without scripts, and in print.
import { statSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { axe, folder, made, proviso, ready, withPage } from './harness.mjs';
import { equal, ok, test } from './tests.mjs';

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

// decided writes the report of a gate that blocks, of a suite of its own.
async function decided() {
  const dir = join(folder, 'decided'), file = join(dir, 'report.html');
  mkdirSync(dir, { recursive: true });
  const tests = Array.from({ length: 70 }, (_, i) => `{description: 'case ${i + 1} & co', id: 'c ${i + 1}/x', vars: {n: '${i + 1}'}}`);
  writeFileSync(join(dir, 'suite.yaml'), `prompts: ['a {{n}}']\nproviders: [echo]\ndefaultTest: {assert: [{type: not-contains, value: '7', id: seven}, {type: contains, value: q, id: loud, severity: info}]}\ntests:\n${tests.map((t) => '  - ' + t).join('\n')}\n`);
  await proviso(['gate', '-c', join(dir, 'suite.yaml'), '--must-pass', 'seven', '--run-dir', join(dir, 'runs'), '-o', file]).catch(() => undefined); // it fails, as it should
  return pathToFileURL(file).href;
}

for (const [how, options] of [['without scripts', { javaScriptEnabled: false }], ['with its view', {}]]) {
  test(`report: begins with the decision, ${how}, and leads to the case`, { smoke: true }, () => withPage({ width: 1280, height: 720, ...options }, async (page) => {
    await page.goto(await decided());
    if (options.javaScriptEnabled !== false) await ready(page);
    const gate = page.getByRole('region', { name: /^Gate/ });
    const text = await gate.innerText();
    for (const want of ['✕ Fail: blocked', 'must-pass seven', 'Assertion "seven" must pass and failed 8 times', 'and 3 more']) ok(text.includes(want), `“${want}” is not in: ${text}`);
    const link = gate.getByRole('link').nth(1);
    ok((await link.innerText()).includes('case 17'), `the second case is ${await link.innerText()}`);
    await link.click();
    await page.getByText('a 17', { exact: true }).locator('visible=true').first().waitFor();
    ok((await gate.innerText()).includes('Fail: blocked'), 'the decision went away');
  }));
}

// missed writes the report of a run of the example whose outputs were broken on purpose.
async function missed() {
  const file = join(folder, 'missed.html');
  const suite = new URL('../../examples/mutate/proviso.yaml', import.meta.url).pathname;
  await proviso(['eval', '-c', suite, '--mutate', '--run-dir', join(folder, 'missed'), '-o', file]);
  return pathToFileURL(file).href;
}

for (const [how, options] of [['without scripts', { javaScriptEnabled: false }], ['with its view', {}]]) {
  test(`report: what the suite would miss, ${how}`, { smoke: true }, () => withPage(options, async (page) => {
    const url = await missed();
    for (const [width, height, theme] of [[1280, 720, 'light'], [390, 844, 'dark']]) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({ colorScheme: theme });
      await page.goto(url);
      if (options.javaScriptEnabled !== false) {
        await ready(page);
        equal(await axe(page), [], `violations at ${width} px, ${theme}`);
      }
      const section = page.getByRole('region', { name: 'What this suite would miss' });
      const text = await section.innerText();
      for (const want of ['Mutation score 57 %', 'Be friendly.', 'no assertion kills them', 'What each assertion kills']) ok(text.includes(want), `“${want}” is not in: ${text}`);
      await page.getByRole('link', { name: 'What this suite would miss' }).click();
      const box = await section.boundingBox();
      ok(box.y < height && box.width <= width, `the link leads to ${JSON.stringify(box)}`);
    }
  }));
}
