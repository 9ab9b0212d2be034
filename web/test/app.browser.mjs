// Every view in every state: accessible to assistive technology, at every width, in both
// themes, with forced colours and without motion.
import { axe, enter, hold, layoutRules, made, ready, refuse, serve, view, withPage } from './harness.mjs';
import { caseId } from './fixtures.mjs';
import { equal, ok, test, until } from './tests.mjs';
import { report } from './report.browser.mjs';
import { colourless, screens } from './screens.mjs';

const shown = ['support', 'before', 'repeats', 'passed'];
const server = () => view(...shown);
export const ids = () => { const into = shown.join('+'); return { run: made('support', into).id, other: made('before', into).id, case: caseId(1), column: 1 }; };

let nothing;
const empty = async () => (await (nothing ??= serve([]))).server;

export async function fine(page, only) {
  equal(await axe(page, only), [], 'violations');
  const { wide, width } = await page.evaluate(() => ({ wide: document.documentElement.scrollWidth - innerWidth, width: innerWidth }));
  ok(wide <= 0, `the page is ${wide} px wider than a window of ${width} px`);
  equal(await page.getByRole('heading', { level: 1 }).count(), 1, 'headings of level 1');
}

const widths = [[1440, 900], [768, 1024], [320, 640]];
const report0 = { name: 'report', smoke: true, goto: async (page) => { await page.goto((await report('support')).url); await ready(page); } };
const pages = [...screens.map((s) => ({ ...s, goto: async (page) => enter(page, await server(), s.path(ids())) })), report0];

// at shows a page at a width in a theme.
async function at(page, s, [width, height], theme) {
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ colorScheme: theme });
  await s.goto(page);
}

// The smoke set tries all rules once, and at the other end those that depend on the layout.
for (const s of pages) {
  test(`axe: ${s.name}, wide and light, narrow and dark`, { smoke: s.smoke }, () => withPage({}, async (page) => {
    await at(page, s, widths[0], 'light');
    await fine(page);
    equal(await colourless(page), [], 'statuses that only a colour tells');
    await at(page, s, widths[2], 'dark');
    await fine(page, layoutRules);
    equal(await colourless(page), [], 'statuses that only a colour tells, at 320 px');
  }));

  for (const theme of ['light', 'dark']) {
    test(`axe: ${s.name}, every width, ${theme}`, {}, () => withPage({}, async (page) => {
      for (const size of widths) {
        await at(page, s, size, theme);
        await fine(page);
      }
    }));
  }

  test(`forced colours: ${s.name}`, {}, () => withPage({ forcedColors: 'active' }, async (page) => {
    await s.goto(page);
    await fine(page);
    equal(await colourless(page), [], 'statuses that only a colour tells');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    const outline = await page.evaluate(() => { const c = getComputedStyle(document.activeElement); return c.outlineStyle !== 'none' && parseFloat(c.outlineWidth) >= 1; });
    ok(outline, 'the focused element has no outline with forced colours');
  }));

  test(`zoom 200 %: ${s.name}`, { smoke: s.name === 'run' }, () => withPage({ width: 720, height: 450, deviceScaleFactor: 2 }, async (page) => {
    await s.goto(page);
    await fine(page, layoutRules);
  }));

  for (const [reducedMotion, limit] of [['reduce', 0], ['no-preference', 150]]) {
    test(`motion ${reducedMotion}: ${s.name}`, { smoke: s.name === 'run' && limit === 0 }, () => withPage({ reducedMotion }, async (page) => {
      await s.goto(page);
      const slow = await page.evaluate((limit) => [...document.querySelectorAll('*')].filter((e) => {
        const c = getComputedStyle(e), ms = (list) => Math.max(...list.split(',').map((t) => parseFloat(t) * (t.trim().endsWith('ms') ? 1 : 1000)));
        return ms(c.transitionDuration) > limit + 0.1 || (c.animationName !== 'none' && ms(c.animationDuration) > limit + 0.1);
      }).map((e) => e.outerHTML.slice(0, 120)).slice(0, 3), limit);
      equal(slow, [], `elements that move for more than ${limit} ms`);
    }));
  }
}

for (const s of screens.filter((s) => s.data)) {
  test(`states: ${s.name} loading and error`, { smoke: s.name === 'run' || s.name === 'runs' }, () => withPage({}, async (page) => {
    const sv = await server();
    await enter(page, sv, '/settings');
    const release = await hold(page, s.data);
    await page.goto(sv.url + s.path(ids()));
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'attached' });
    await fine(page);
    release();
    await ready(page);
    await page.unroute(s.data);
    await refuse(page, s.data);
    await page.goto(sv.url + s.path(ids()));
    await page.reload();
    await page.getByRole('alert').first().waitFor();
    await fine(page);
    await page.unroute(s.data);
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByRole('alert').first().waitFor({ state: 'detached' });
    await ready(page);
  }));

  if (!s.needsRun) {
    test(`states: ${s.name} empty`, { smoke: s.name === 'runs' }, () => withPage({}, async (page) => {
      await enter(page, await empty(), s.path({ run: '', other: '' }));
      await fine(page);
    }));
  }

  if (s.empty) {
    test(`states: ${s.name} filtered empty`, { smoke: s.name === 'run' || s.name === 'runs' }, () => withPage({}, async (page) => {
      await enter(page, await server(), s.path(ids()) + s.empty);
      const clear = page.getByRole('button', { name: 'Clear filters' }).or(page.getByRole('link', { name: 'Clear filters' })).first();
      await clear.waitFor();
      await fine(page);
      await clear.click();
      await page.waitForURL((u) => !u.search.includes('nothing-has'));
    }));
  }
}

// The gate itself: a button without a name, a target that is too small, grey text, and a
// status without a sign have to fail it.
test('axe: planted mistakes fail', { smoke: true }, () => withPage({}, async (page) => {
  await enter(page, await server(), '/runs');
  await page.evaluate(() => {
    const add = (tag, text, style, in_) => Object.assign((in_ ?? document.querySelector('main')).appendChild(document.createElement(tag)), { textContent: text, style: style ?? '' });
    add('button', '');
    add('p', 'grey', 'color: #bbb; background: #fff');
    const row = add('div', '', 'display: flex');
    for (const name of ['a', 'b']) Object.assign(add('button', name, 'width: 12px; height: 12px; min-width: 0; min-height: 0; padding: 0; font-size: 8px', row), { ariaLabel: name });
    add('p', '', '').appendChild(Object.assign(document.createElement('span'), { className: 'status fail', textContent: '3' }));
  });
  const found = await axe(page);
  for (const rule of ['button-name', 'color-contrast', 'target-size']) ok(found.some((v) => v.startsWith(rule)), `${rule} was not found: ${found.join('; ') || 'no violation'}`);
  equal((await colourless(page)).length, 1, 'statuses that only a colour tells');
}));

test('theme: follows the system, and a choice stays', { smoke: true }, () => withPage({ theme: 'dark' }, async (page) => {
  await enter(page, await server(), '/runs');
  const colour = () => page.evaluate(() => getComputedStyle(document.body).color);
  const dark = await colour();
  await page.emulateMedia({ colorScheme: 'light' });
  await until(async () => (await colour()) !== dark, 'the light theme');
  const button = page.getByRole('button', { name: /^Theme/ });
  for (let i = 0; i < 3 && !/dark/.test(await button.innerText()); i++) await button.click();
  equal(await colour(), dark, 'the text with the dark theme chosen');
  await page.reload();
  await ready(page);
  equal(await colour(), dark, 'the text after a reload');
}));
