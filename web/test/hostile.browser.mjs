// Text of models and suites stays text, wherever a page shows it. withPage fails for a
// dialog, a request to another host, a violation of the policy, and the sentinel.
import { corpus } from './hostile.mjs';
import { hostile, hostileCase } from './fixtures.mjs';
import { enter, made, ready, view, withPage } from './harness.mjs';
import { report } from './report.browser.mjs';
import { equal, ok, test } from './tests.mjs';
import { screens } from './screens.mjs';

// plain fails if an element is on the page that only the markup of an attack makes.
async function plain(page) {
  const made = await page.evaluate(() => [...document.querySelectorAll('iframe, object, embed, base, form[action], img[onerror], svg image, a[href^="javascript:"], a[href^="data:text"], [onload], [onfocus], [onmouseover], meta[http-equiv="refresh"]')].map((e) => e.outerHTML.slice(0, 200)));
  equal(made, [], 'elements from the text of a run');
  const sent = await page.evaluate(() => [...document.querySelectorAll('a[href]')].map((a) => a.protocol + '//' + a.hostname).filter((h) => /foreign\.test/.test(h) || /^(javascript|vbscript):/.test(h)));
  equal(sent, [], 'links from the text of a run');
}

// walk presses everything that opens a text, one case after another.
async function walk(page) {
  await plain(page);
  for (const key of ['j', 'ArrowDown', 'Enter', 'j', 'j', 'ArrowDown', 'ArrowRight', 'Enter', 'Escape']) {
    await page.keyboard.press(key);
    await page.waitForTimeout(30); // a handler of an attack would run by now
  }
  for (const details of await page.locator('details > summary').all()) {
    if (await details.isVisible()) await details.click({ timeout: 2000 }).catch(() => {});
  }
  await plain(page);
}

test('hostile: report', { smoke: true }, () => withPage({}, async (page) => {
  await page.goto((await report('hostile')).url);
  await ready(page);
  ok((await page.locator('body').innerText()).includes(corpus[0].text.slice(0, 40)), 'the first attack is not on the page as text');
  await walk(page);
}));

test('hostile: report without scripts', { smoke: true }, () => withPage({ javaScriptEnabled: false }, async (page) => {
  await page.goto((await report('hostile')).url);
  ok((await page.locator('body').innerText()).includes('<script>'), 'the first attack is not on the page as text');
  await plain(page);
  for (const details of await page.locator('details:not([open]) > summary').all()) if (await details.isVisible()) await details.click();
  await plain(page);
}));

// Both runs of a comparison are hostile, so that every view shows attacks.
const hostileRuns = ['hostile', 'hostileBefore'];
for (const s of screens) {
  test(`hostile: ${s.name}`, { smoke: s.smoke }, () => withPage({}, async (page) => {
    const server = await view(...hostileRuns), at = (name) => made(name, hostileRuns.join('+')), suite = hostile().name.toWellFormed?.() ?? hostile().name;
    await enter(page, server, s.path({ run: at('hostile').id, other: at('hostileBefore').id, case: hostileCase(1), assertion: corpus[0].text, suite, prompt: hostile().columns[0].prompt.toWellFormed?.() ?? hostile().columns[0].prompt }));
    if (s.shows) ok((await page.locator('body').innerText()).includes('<script>'), 'no attack is on the page as text');
    await walk(page);
  }));
}

test('hostile: every case of the run', {}, () => withPage({}, async (page) => {
  const server = await view(...hostileRuns), run = made('hostile', hostileRuns.join('+'));
  for (let index = 0; index < corpus.length * 2; index++) {
    await enter(page, server, screens.find((s) => s.name === 'case').path({ run: run.id, case: hostileCase(index >> 1), column: index & 1 }));
    await plain(page);
  }
}));

test('hostile: words in the address', { smoke: true }, () => withPage({}, async (page) => {
  const server = await view(...hostileRuns);
  for (const { text } of corpus.filter((a) => a.text.length < 300)) {
    const q = encodeURIComponent(text.toWellFormed?.() ?? text.replaceAll(/[\ud800-\udfff]/g, '\ufffd'));
    for (const path of [`/runs?q=${q}`, `/compare?base=${q}&head=${q}`]) {
      await page.goto(server.url + path);
      await page.getByRole('heading', { level: 1 }).first().waitFor();
      await plain(page);
    }
  }
}));
