// The panel with much, with hostile texts, with keys alone, in every look, and as an editor.
import { corpus } from './hostile.mjs';
import { axe, layoutRules, withPage } from './harness.mjs';
import { inside, panelOn, row, says } from './panel.browser.mjs';
import { world } from './panelfake.mjs';
import { equal, ok, test, until } from './tests.mjs';

const maxElements = 1500;

// elements counts those of the page and of its panels.
const elements = (page) => page.evaluate(() => document.querySelectorAll('*').length + [...document.querySelectorAll('proviso-panel')].reduce((n, p) => n + p.shadowRoot.querySelectorAll('*').length, 0));

const results = (n, status = (i) => (i % 3 ? 'pass' : i % 2 ? 'error' : 'fail')) => Array.from({ length: n }, (_, i) => ({
  id: `assertion_${i}`, pass: status(i) === 'pass', status: status(i), score: 0.5, reasoning: `reason ${i} ` + 'because '.repeat(20),
  criteria: Array.from({ length: 30 }, (_, k) => ({ criterion: `criterion ${k}`, pass: false, status: 'fail', reasoning: 'no' })),
  evidence: Array.from({ length: 30 }, (_, k) => `quote ${k}`), instruction: `Do ${i}.`,
}));

const fed = (name, options, run) => test(`panel: ${name}`, options, () => withPage(options.page ?? {}, async (page, o) => {
  const w = await world();
  try {
    await page.goto(`${w.host}/fed.html`);
    await says(page, /There are no assertions/);
    await run(page, w, o);
  } finally { await w.stop(); }
}));

// feed waits until the results are drawn.
const feed = (page, of, text = null) => page.evaluate(([of, text]) => new Promise((drawn) => { const p = document.querySelector('proviso-panel'); p.output = text; p.results = of; requestAnimationFrame(() => requestAnimationFrame(drawn)); }), [of, text]);

fed('2,000 assertions', { smoke: true }, async (page) => {
  await feed(page, results(2000));
  await says(page, /1,333 of 2,000 passed · 333 failed · 334 errors|1,333 of 2,000 passed · 334 failed · 333 errors/);
  ok((await elements(page)) <= maxElements, `${await elements(page)} elements`);
  await inside(page, 'button.top').filter({ hasText: '1,333 passed' }).click();
  await until(async () => (await inside(page, '.row').count()) === 100, 'rows that passed');
  for (let i = 0; i < 12; i++) await inside(page, '.row button.top').nth(i * 8).click();
  await until(async () => (await inside(page, '.body').count()) > 0, 'open rows');
  ok((await elements(page)) <= maxElements, `${await elements(page)} elements with rows that are open`);
  // The last page is there, and the one before.
  const next = inside(page, 'button').filter({ hasText: 'Next' }).first();
  while (await next.isEnabled()) { const at = await inside(page, '.actions .num').first().innerText(); await next.click(); await until(async () => (await inside(page, '.actions .num').first().innerText()) !== at, 'the next page'); }
  ok(/–667 of 667/.test(await inside(page, '.actions .num').first().innerText()), 'the last page');
  ok((await elements(page)) <= maxElements, `${await elements(page)} elements on the last page`);
  await inside(page, 'button').filter({ hasText: 'Previous' }).first().click();
  await says(page, /601–650 of 667/);
});

test('panel: 2,000 verdicts stream in', { smoke: true }, () => withPage({}, async (page) => {
  const w = await world({ assertions: Array.from({ length: 2000 }, (_, i) => ({ id: `a${i}` })) });
  try {
    await panelOn(page, w);
    await says(page, /judging 2,000…/);
    for (let i = 1999; i >= 0; i--) w.verdict(i, i % 4 ? 'pass' : 'fail');
    w.finish();
    await says(page, /1,500 of 2,000 passed · 500 failed/);
    equal(await inside(page, '.row .name').first().innerText(), 'a0', 'the first failure');
    ok((await elements(page)) <= maxElements, `${await elements(page)} elements`);
  } finally { await w.stop(); }
}));

test('panel: times', { bench: true }, () => withPage({}, async (page) => {
  const w = await world();
  try {
    await page.goto(`${w.host}/fed.html`);
    await says(page, /There are no assertions/);
    const painted = () => page.evaluate(() => new Promise((done) => {
      const panel = document.createElement('proviso-panel');
      document.querySelector('aside').replaceChildren(panel);
      const from = performance.now();
      panel.results = window.results;
      requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - from)));
    }));
    for (const n of [10, 200, 2000]) {
      const all = [];
      await page.evaluate((of) => { window.results = of; }, results(n));
      for (let i = 0; i < 9; i++) all.push(await painted());
      all.sort((a, b) => a - b);
      console.log(`     panel: ${n} results to painted: median ${all[4].toFixed(0)} ms, worst ${all[8].toFixed(0)} ms`);
    }
    const s = await world({ assertions: Array.from({ length: 50 }, (_, i) => ({ id: `a${i}` })) });
    await panelOn(page, s);
    const each = [];
    for (let i = 0; i < 50; i++) {
      const seen = page.evaluate((n) => new Promise((done) => {
        const root = document.querySelector('proviso-panel').shadowRoot;
        const o = new MutationObserver(() => { if (root.querySelector('.num').textContent.includes(`${n} of`)) { o.disconnect(); requestAnimationFrame(() => done(Date.now())); } });
        o.observe(root, { subtree: true, childList: true, characterData: true });
      }), i + 1);
      await page.evaluate(() => 0); // the observer is there
      const at = Date.now();
      s.verdict(i);
      each.push((await seen) - at);
    }
    each.sort((a, b) => a - b);
    console.log(`     panel: verdict sent to painted: median ${each[25]} ms, 95 % ${each[47]} ms`);
    await s.stop();
  } finally { await w.stop(); }
}));

const made = (page) => page.evaluate(() => [...document.querySelector('proviso-panel').shadowRoot.querySelectorAll('*')].filter((e) => /^(SCRIPT|IMG|IFRAME|OBJECT|EMBED|BASE|META|LINK|STYLE|SVG|A)$/i.test(e.tagName) || [...e.attributes].some((a) => /^on|^href$|^src$|^srcdoc$|^style$/.test(a.name))).map((e) => e.outerHTML.slice(0, 200)));

fed('hostile texts stay text', { smoke: true }, async (page) => {
  for (const { name, text } of corpus) {
    await feed(page, null);
    await page.evaluate((text) => new Promise((drawn) => {
      const hostile = { id: text, pass: false, status: 'fail', reasoning: text, instruction: text, judge: text, score: 0.5, criteria: [{ criterion: text, pass: false, reasoning: text, status: 'fail' }], evidence: [text, text + 'x'], marks: [{ quote: text, start: 0, end: text.length }] };
      const p = document.querySelector('proviso-panel');
      p.output = document.getElementById('output').textContent = text;
      p.results = [hostile, { ...hostile, status: 'error' }, { ...hostile, status: 'pass', pass: true }, { ...hostile, status: 'constructor' }, null, 5];
      requestAnimationFrame(() => requestAnimationFrame(drawn));
    }), text);
    await says(page, /of 4 passed/);
    for (const r of await inside(page, '.row button.top').all()) await r.click();
    await until(async () => (await inside(page, '.body').count()) >= 1, `an open row with ${name}`);
    await inside(page, 'button').filter({ hasText: 'Disagree' }).first().click();
    await inside(page, 'textarea').first().fill(text.slice(0, 5000));
    equal(await made(page), [], `elements of ${name}`);
    const shown = await inside(page).innerText();
    ok(!/[\u0000-\u0008\u202a-\u202e\u2066-\u2069\u200e\u200f]/.test(shown), `${name}: characters that are not seen, or turn the text, are in the page as they are`);
    ok(shown.length < 60_000, `${name}: ${shown.length} characters are shown`);
    if (name === 'script') ok(shown.includes('<script>'), 'the attack is not shown as text');
    ok((await elements(page)) <= maxElements, `${name}: ${await elements(page)} elements`);
    await inside(page, '.quotes button').first().click({ timeout: 1000 }).catch(() => {});
    await page.evaluate((text) => { const p = document.querySelector('proviso-panel'); p.mode = 'edit'; p.assertions = [{ id: text, instruction: text, criteria: [text, { template: text }, null], more: text }]; }, text);
    await until(async () => (await inside(page, '.form').count()) === 1, 'the editor');
    equal(await made(page), [], `elements of ${name} in the editor`);
    await page.evaluate(() => { document.querySelector('proviso-panel').mode = 'view'; });
    await says(page, /Verdicts/);
  }
});

test('panel: keys alone', { smoke: true }, () => withPage({}, async (page) => {
  const w = await world({ assertions: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] });
  try {
    await panelOn(page, w);
    for (const i of [0, 1, 2]) w.verdict(i, i < 2 ? 'fail' : 'pass');
    w.finish();
    await says(page, /1 of 3 passed · 2 failed$/m);
    const focused = () => page.evaluate(() => document.querySelector('proviso-panel').shadowRoot.activeElement?.innerText ?? '');
    await page.keyboard.press('Tab');
    await until(async () => /a/.test(await focused()), 'the first row has the focus');
    await page.keyboard.press('ArrowDown');
    ok(/\bb\b/.test(await focused()), `arrow down: ${await focused()}`);
    await page.keyboard.press('Enter');
    await inside(page, '.body').waitFor();
    await page.keyboard.press('Tab');
    ok(/Disagree/.test(await focused()), `the next stop: ${await focused()}`);
    await page.keyboard.press('Space');
    await inside(page, 'form').waitFor();
    await until(async () => page.evaluate(() => document.querySelector('proviso-panel').shadowRoot.activeElement?.type === 'radio'), 'the form has the focus');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Tab');
    await page.keyboard.type('because jk 1 2 3');
    await page.keyboard.press('Control+Enter');
    await says(page, /Recorded as your label: fail/);
    equal([...w.labels.values()].map((l) => [l.assertion, l.label, l.note]), [['b', 'fail', 'because jk 1 2 3']], 'the label');
    await until(async () => /Undo/.test(await focused()), 'the focus is at Undo');
    await page.keyboard.press('Enter');
    await inside(page, 'form').waitFor();
    await until(async () => page.evaluate(() => document.querySelector('proviso-panel').shadowRoot.activeElement?.type === 'radio'), 'the form has the focus again');
    await page.keyboard.press('Escape');
    await until(async () => (await inside(page, 'form').count()) === 0, 'the form is closed');
    await until(async () => /Disagree/.test(await focused()), 'the focus is where it was');
  } finally { await w.stop(); }
}));

// Every look that a page can have around the panel: theme, width, colours of the system.
for (const [theme, width, forced] of [['light', 320], ['dark', 320], ['light', 1440], ['dark', 1440], ['light', 768, 'active']]) {
  fed(`looks, ${theme}, ${width} px${forced ? ', forced colours' : ''}`, { smoke: width === 320, page: { theme, width, forcedColors: forced ?? 'none' } }, async (page) => {
    const text = 'quote 0 and quote 1';
    await feed(page, [...results(4, (i) => ['fail', 'error', 'pass', 'skip'][i]), { id: 'r', status: 'running', reasoning: '', pass: false }], text);
    await says(page, /judging 1…/);
    await inside(page, 'button.top').filter({ hasText: '1 passed' }).click();
    for (const name of ['assertion_0', 'assertion_1', 'assertion_2']) await row(page, name).click();
    await inside(page, 'button').filter({ hasText: 'Disagree' }).first().click();
    await inside(page, 'textarea').fill('a note');
    equal(await axe(page), [], 'axe');
    const wide = await page.evaluate(() => [document.documentElement.scrollWidth - innerWidth, ...[...document.querySelector('proviso-panel').shadowRoot.querySelectorAll('*')].filter((e) => !e.closest('.hidden') && e.getBoundingClientRect().right > document.querySelector('proviso-panel').getBoundingClientRect().right + 1).map((e) => e.outerHTML.slice(0, 100))]);
    ok(wide[0] <= 0 && wide.length === 1, `wider than the page: ${wide}`);
    // The panel follows the page, unless the page says otherwise.
    const background = () => inside(page).evaluate((e) => getComputedStyle(e).backgroundColor);
    if (!forced) {
      equal(await background(), theme === 'dark' ? 'rgb(15, 20, 25)' : 'rgb(255, 255, 255)', 'background');
      await page.evaluate((t) => document.querySelector('proviso-panel').setAttribute('theme', t), theme === 'dark' ? 'light' : 'dark');
      await until(async () => (await background()) === (theme === 'dark' ? 'rgb(255, 255, 255)' : 'rgb(15, 20, 25)'), 'the other theme');
      equal(await axe(page, layoutRules), [], 'axe, other theme');
    } else {
      const borders = await inside(page, '.sign').evaluateAll((all) => all.map((e) => getComputedStyle(e).borderTopWidth));
      ok(borders.every((b) => b === '1px'), `signs without a border: ${borders}`);
    }
    await page.evaluate(() => { const p = document.querySelector('proviso-panel'); p.mode = 'edit'; p.lint = async () => [{ rule: 'vague', pointer: '/assertions/0/criteria/0', message: 'a vague word' }]; p.assertions = [{ id: 'a', instruction: 'Be nice.', criteria: ['It is nice.', { template: 'brief' }] }]; });
    await says(page, /a vague word/);
    equal(await axe(page), [], 'axe of the editor');
    ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, 'the editor is wider than the page');
  });
}

test('panel: assertions are edited, and lint stands under them', { smoke: true }, () => withPage({}, async (page) => {
  const vague = (list) => list.flatMap((a, i) => (a.criteria ?? []).flatMap((c, k) => (/appropriate/.test(c) ? [{ rule: 'vague', pointer: `/assertions/${i}/criteria/${k}`, message: '"appropriate" decides nothing', suggestion: 'say what counts' }] : [])));
  const w = await world({ lint: vague });
  try {
    await page.goto(`${w.host}/edit.html`);
    await says(page, /Assertions\s+4/);
    const host = async () => JSON.parse(await page.locator('#now').innerText());
    const before = await host();
    ok(before.some((a) => a.criteria?.some((c) => typeof c === 'object')), 'the example has no template');
    await inside(page, 'button').filter({ hasText: 'Add an assertion' }).click();
    await until(() => page.evaluate(() => /^instruction-/.test(document.querySelector('proviso-panel').shadowRoot.activeElement?.id ?? '')), 'the new assertion has the focus');
    await page.keyboard.type('Be kind.');
    await inside(page, '[aria-label="Criterion 1 of assertion_5"]').fill('The tone is appropriate.');
    await says(page, /vague: "appropriate" decides nothing; write: say what counts/);
    ok(await inside(page, '.form').last().locator('.finding').isVisible(), 'the finding is not under its assertion');
    equal((await host()).slice(0, 4), before, 'what was not edited');
    equal((await host())[4], { id: 'assertion_5', instruction: 'Be kind.', criteria: ['The tone is appropriate.'] }, 'the new assertion');
    await inside(page, '[aria-label="Criterion 1 of assertion_5"]').fill('The output says please.');
    await says(page, /no findings about the wording/);
    // Removed and brought back, with what was typed.
    await inside(page, 'button').filter({ hasText: 'Remove assertion_5' }).click();
    await until(async () => (await host()).length === 4, 'four assertions');
    await inside(page, 'button').filter({ hasText: /^Undo/ }).click();
    await until(async () => (await host())[4]?.criteria[0] === 'The output says please.', 'the assertion is back');
    // A host that hands back what it got, late, takes nothing away; one with other assertions is obeyed.
    await page.evaluate(() => { const p = document.querySelector('proviso-panel'); let late; p.addEventListener('proviso-change', (e) => { const was = late; late = e.detail.assertions; if (was) p.assertions = was; }); });
    await inside(page, '[aria-label="Criterion 1 of assertion_5"]').fill('');
    await inside(page, '[aria-label="Criterion 1 of assertion_5"]').pressSequentially('The output names the price.');
    equal(await inside(page, '[aria-label="Criterion 1 of assertion_5"]').inputValue(), 'The output names the price.', 'the text after late assertions of the host');
    // Lint that fails says so, keeps the text, and can be tried again.
    await page.evaluate(() => { const p = document.querySelector('proviso-panel'); window.fails = true; p.lint = async () => { if (window.fails) throw new Error('lint is away'); return []; }; });
    await says(page, /could not be checked: lint is away/);
    await page.evaluate(() => { window.fails = false; });
    await inside(page, 'button').filter({ hasText: 'Try again' }).click();
    await says(page, /no findings about the wording/);
    // Moved, and switched to the other mode and back.
    await page.evaluate(() => { const p = document.querySelector('proviso-panel'); document.querySelector('main').prepend(p); p.mode = 'view'; });
    await says(page, /There are no results yet/);
    await page.evaluate(() => document.querySelector('proviso-panel').setAttribute('mode', 'edit'));
    await until(async () => (await inside(page, '[aria-label="Criterion 1 of assertion_5"]').inputValue().catch(() => '')) === 'The output names the price.', 'the text');
    await page.evaluate(() => { document.querySelector('proviso-panel').assertions = [{ id: 'other', criteria: ['x'] }]; });
    await says(page, /Assertions\s+1/);
    await page.evaluate(() => { document.querySelector('proviso-panel').assertions = Array.from({ length: 2000 }, (_, i) => ({ id: `a${i}`, criteria: ['c'] })); });
    await says(page, /1–20 of 2,000/);
    ok((await elements(page)) <= maxElements, `${await elements(page)} elements`);
    ok(!w.log.some((r) => r.bearer.startsWith('pvt_')), 'an editor that the host feeds asked proviso itself');
  } finally { await w.stop(); }
}));

test('panel: lint through proviso, with the token of the page', { smoke: true }, () => withPage({}, async (page) => {
  const w = await world({ assertions: [{ id: 'a' }], lint: (list) => list.map((a, i) => ({ rule: 'empty', pointer: `/assertions/${i}`, message: `about ${a.id}` })) });
  try {
    await panelOn(page, w);
    await page.evaluate(() => { const p = document.querySelector('proviso-panel'); p.assertions = [{ id: 'one', criteria: ['x'] }]; p.mode = 'edit'; });
    await says(page, /empty: about one/);
    const asked = w.log.filter((r) => r.path === '/v1/lint');
    equal([asked.at(-1).bearer, asked.at(-1).body], ['pvt_1', { assertions: [{ id: 'one', criteria: ['x'] }] }], 'the request');
    await page.evaluate(() => { const p = document.querySelector('proviso-panel'); p.lint = '/api/lint'; p.assertions = [{ id: 'two', criteria: ['y'] }]; });
    await says(page, /empty: about two/);
    equal(w.log.filter((r) => r.path === '/v1/lint').at(-1).bearer, 'pvk_of_the_host', 'who asked at the end');
  } finally { await w.stop(); }
}));
