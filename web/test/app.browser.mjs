// Every view in every state: accessible to assistive technology, at every width, in both
// themes, with forced colours and without motion.
import { axe, enter, hold, made, ready, refuse, serve, view, withPage } from './harness.mjs';
import { caseId } from './fixtures.mjs';
import { equal, ok, test, until } from './tests.mjs';
import { screens } from './screens.mjs';

const shown = ['support', 'before', 'repeats', 'passed'];
const server = () => view(...shown);
export const ids = () => { const into = shown.join('+'); return { run: made('support', into).id, other: made('before', into).id, case: caseId(1), column: 1 }; };

let nothing;
const empty = async () => (await (nothing ??= serve([]))).server;

async function fine(page, width = 1440) {
  equal(await axe(page), [], 'violations');
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  ok(wide <= 0, `the page is ${wide} px wider than a window of ${width} px`);
  equal(await page.getByRole('heading', { level: 1 }).count(), 1, 'headings of level 1');
}

for (const s of screens) {
  for (const theme of ['light', 'dark']) {
    for (const [width, height] of [[1440, 900], [768, 1024], [320, 640]]) {
      const smoke = s.smoke && ((width === 1440 && theme === 'light') || (width === 320 && theme === 'dark'));
      test(`axe: ${s.name} full, ${width}, ${theme}`, { smoke }, () => withPage({ width, height, theme }, async (page) => {
        await enter(page, await server(), s.path(ids()));
        await fine(page, width);
      }));
    }
  }

  if (!s.data) continue;
  test(`axe: ${s.name} loading`, { smoke: s.smoke }, () => withPage({}, async (page) => {
    const sv = await server();
    await enter(page, sv, '/settings');
    const release = await hold(page, s.data);
    await page.goto(sv.url + s.path(ids()));
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'attached' });
    await fine(page);
    release();
    await ready(page);
  }));

  test(`axe: ${s.name} error`, { smoke: s.smoke }, () => withPage({}, async (page) => {
    const sv = await server();
    await enter(page, sv, '/settings');
    await refuse(page, s.data);
    await page.goto(sv.url + s.path(ids()));
    await page.getByRole('alert').first().waitFor();
    await fine(page);
    await page.unroute(s.data);
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByRole('alert').first().waitFor({ state: 'detached' });
    await ready(page);
  }));

  if (!s.needsRun) {
    test(`axe: ${s.name} empty`, { smoke: s.smoke }, () => withPage({}, async (page) => {
      await enter(page, await empty(), s.path({ run: '', other: '' }));
      await fine(page);
    }));
  }

  if (s.empty) {
    test(`axe: ${s.name} filtered empty`, { smoke: s.smoke }, () => withPage({}, async (page) => {
      await enter(page, await server(), s.path(ids()) + s.empty);
      await page.getByRole('button', { name: 'Clear filters' }).or(page.getByRole('link', { name: 'Clear filters' })).first().waitFor();
      await fine(page);
      await page.getByRole('button', { name: 'Clear filters' }).or(page.getByRole('link', { name: 'Clear filters' })).first().click();
      await page.waitForURL((u) => !u.search.includes('nothing-has'));
    }));
  }

  test(`forced colours: ${s.name}`, {}, () => withPage({ forcedColors: 'active' }, async (page) => {
    await enter(page, await server(), s.path(ids()));
    await fine(page);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    const outline = await page.evaluate(() => { const c = getComputedStyle(document.activeElement); return c.outlineStyle !== 'none' && parseFloat(c.outlineWidth) >= 1; });
    ok(outline, 'the focused element has no outline with forced colours');
  }));

  test(`zoom 200 %: ${s.name}`, { smoke: s.name === 'run' }, () => withPage({ width: 720, height: 450, deviceScaleFactor: 2 }, async (page) => {
    await enter(page, await server(), s.path(ids()));
    await fine(page, 720);
  }));

  for (const [reducedMotion, limit] of [['reduce', 0], ['no-preference', 150]]) {
    test(`motion ${reducedMotion}: ${s.name}`, { smoke: s.name === 'run' && limit === 0 }, () => withPage({ reducedMotion }, async (page) => {
      await enter(page, await server(), s.path(ids()));
      const slow = await page.evaluate((limit) => [...document.querySelectorAll('*')].filter((e) => {
        const c = getComputedStyle(e), ms = (list) => Math.max(...list.split(',').map((t) => parseFloat(t) * (t.trim().endsWith('ms') ? 1 : 1000)));
        return ms(c.transitionDuration) > limit + 0.1 || (c.animationName !== 'none' && ms(c.animationDuration) > limit + 0.1);
      }).map((e) => e.outerHTML.slice(0, 120)).slice(0, 3), limit);
      equal(slow, [], `elements that move for more than ${limit} ms`);
    }));
  }
}

// The gate itself: a button without a name has to fail it.
test('axe: a planted button without a name fails', { smoke: true }, () => withPage({}, async (page) => {
  await enter(page, await server(), '/runs');
  await page.evaluate(() => document.querySelector('main').append(document.createElement('button')));
  const found = await axe(page);
  ok(found.some((v) => v.startsWith('button-name')), `the button was not found: ${found.join('; ') || 'no violation'}`);
}));

// And so have texts whose contrast is too low.
test('axe: planted grey text fails', {}, () => withPage({}, async (page) => {
  await enter(page, await server(), '/runs');
  await page.evaluate(() => { const p = document.createElement('p'); p.textContent = 'grey'; p.style.color = '#bbb'; p.style.background = '#fff'; document.querySelector('main').append(p); });
  ok((await axe(page)).some((v) => v.startsWith('color-contrast')), 'the grey text was not found');
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
