// What people do without a mouse, in the app and in the report.
import { enter, ready, view, withPage } from './harness.mjs';
import { equal, ok, test, until } from './tests.mjs';
import { ids } from './app.browser.mjs';
import { report } from './report.browser.mjs';
import { drawer, screens, words } from './screens.mjs';

const server = () => view('support', 'before', 'repeats', 'passed');
const run = screens.find((s) => s.name === 'run');
const places = {
  app: async (page) => enter(page, await server(), run.path(ids())),
  report: async (page) => { await page.goto((await report('support')).url); await ready(page); },
};

// focused describes the element that has the focus, as a person knows it.
export const focused = (page) => page.evaluate(() => {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const r = e.getBoundingClientRect(), c = getComputedStyle(e), text = (x) => (x?.textContent ?? '').replace(/\s+/g, ' ').trim();
  return {
    role: e.getAttribute('role') ?? e.tagName.toLowerCase(), name: (e.getAttribute('aria-label') || text(e.labels?.[0]) || text(e)).slice(0, 80), html: e.outerHTML.slice(0, 120),
    order: [...document.querySelectorAll('*')].indexOf(e), grid: !!e.closest('[role="grid"]'), aside: !!e.closest('aside, [role="complementary"]'),
    seen: r.width > 0 && r.height > 0 && c.visibility === 'visible', ring: (c.outlineStyle !== 'none' && parseFloat(c.outlineWidth) >= 1) || c.boxShadow !== 'none' || !!e.closest('[role="grid"]'),
  };
});

// tabTo presses Tab until the focus is at what is asked for.
async function tabTo(page, wanted, what, limit = 80) {
  for (let i = 0; i < limit; i++) {
    await page.keyboard.press('Tab');
    const at = await focused(page);
    if (at && wanted(at)) return at;
  }
  throw new Error(`${what} was not reached with ${limit} times Tab`);
}

// fails walks from the matrix through the failing cells and back to it.
async function fails(page) {
  const before = await tabTo(page, (at) => at.role === 'grid', 'the matrix'), box = drawer(page);
  await box.getByText('I already told you that.').first().waitFor(); // the worst case is open at first
  const plain = page.url();
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await box.getByText('The output has 74 words, more than 60').first().waitFor();
  await page.keyboard.press('k');
  await box.getByText('I already told you that.').first().waitFor();
  ok((await focused(page))?.aside, `the focus did not move to the case: it is at ${JSON.stringify(await focused(page))}`);
  ok(page.url() !== plain, 'the open case is not in the address');
  await page.keyboard.press('Escape');
  await box.waitFor({ state: 'detached' });
  await until(async () => (await focused(page))?.role === before.role, 'the focus in the matrix again');
}

test('keyboard: from the runs to the first failing case and back', { smoke: true }, () => withPage({}, async (page) => {
  await enter(page, await server(), '/runs');
  await tabTo(page, (at) => at.role === 'a' && at.name.includes('support-bot'), 'the run support-bot');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/runs\/[^/?]+/);
  await ready(page);
  await fails(page);
  for (let i = 0; i < 8 && new URL(page.url()).pathname !== '/runs'; i++) await page.goBack();
  equal(new URL(page.url()).pathname, '/runs', 'the page after going back');
  await ready(page);
}));

test('keyboard: the report, through its failing cases', { smoke: true }, () => withPage({}, async (page) => {
  await places.report(page);
  await fails(page);
}));

// The skip link leads past the navigation.
for (const [place, go] of Object.entries(places)) {
  test(`keyboard: the skip link and the filters, ${place}`, { smoke: true }, () => withPage({}, async (page) => {
    await go(page);
    const skip = await tabTo(page, () => true, 'the first element');
    ok(/^skip to/i.test(skip.name), `the first element is ${skip.html}`);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    ok(await page.evaluate(() => !!document.activeElement.closest('main')), 'the skip link does not lead to the content');
    const grid = page.getByRole('grid'), rows = async () => Number(await grid.getAttribute('aria-rowcount')), all = await rows(), address = page.url();
    for (const [key, status] of [['Enter', 'error'], ['Space', 'error']]) {
      const filter = page.getByRole('button', { name: words[status] });
      await filter.focus();
      await page.keyboard.press(key);
      const on = key === 'Enter';
      await until(async () => (await filter.getAttribute('aria-pressed')) === String(on), `the filter with ${key}`);
      equal(await rows(), on ? 3 : all, `rows of the matrix, with their head, after ${key}`);
      if (on) ok(page.url() !== address, 'the filter is not in the address');
    }
  }));
}

// The order that a person needs, by the names of what is passed.
const frame = [/^skip to/i, /^proviso$/, /^Runs$/, /^Compare$/, /^Settings$/, /^Theme/];
const matrix = [/^All 48/, /^\S? ?Failed 7/, /^Search/, /^Results by case/, /^Previous failing/, /^Next failing/, /^Close/];
const orders = {
  runs: [...frame, /^Copy link/, /^Download/, /^Suite/, /^Result/, /^Search/, /^repeated|^support-bot/, /^Compare support-bot|^Compare repeated/],
  run: [...frame, /^Compare with/, /^Copy link/, /^Download/, ...matrix],
  case: [...frame, /^Copy link/, /^Download/, ...matrix],
  compare: [...frame, /^Copy link/, /^Base/, /^Head/, /broke/i],
  assertions: [...frame, /^Copy link/, /^Suite/, /^Kind/, /^Order/, /^Search/, /^tone/],
  assertion: [...frame, /^Assertions$/, /^Copy link/, /^Download/, /\d/],
  judges: [...frame, /^Copy link/, /^Search/, /gpt-5/],
  prompts: [...frame, /^Copy link/, /^Search/, /^v1[34]/],
  settings: [...frame, /^Copy link/],
  report: [/^skip to/i, ...matrix],
};
for (const [name, wanted] of Object.entries(orders)) {
  test(`keyboard: order and names of what has the focus, ${name}`, { smoke: name === 'run' || name === 'report' }, () => withPage({ height: 4000 }, async (page) => {
    if (name === 'report') await places.report(page);
    else await enter(page, await server(), screens.find((s) => s.name === name).path(ids()));
    equal(await page.locator('[tabindex]').evaluateAll((all) => all.filter((e) => e.tabIndex > 0).map((e) => e.outerHTML.slice(0, 100))), [], 'elements with a place of their own in the order');
    await page.evaluate(() => document.activeElement?.blur?.());
    const seen = [];
    for (let i = 0; i < 120; i++) {
      await page.keyboard.press('Tab');
      const at = await focused(page);
      if (!at || seen.some((x) => x.order === at.order)) break;
      seen.push(at);
    }
    const names = seen.map((x) => x.name);
    let from = 0;
    for (const one of wanted) {
      const found = names.findIndex((n, i) => i >= from && one.test(n));
      ok(found >= 0, `${one} does not come after ${JSON.stringify(names[from - 1] ?? 'the start')}. The order is: ${names.join(' | ')}`);
      from = found + 1;
    }
    equal(seen.filter((x) => !x.name).map((x) => x.html), [], 'elements with the focus that have no name');
    equal(seen.filter((x) => !x.seen).map((x) => x.html), [], 'elements with the focus that cannot be seen');
    equal(seen.filter((x) => !x.ring).map((x) => x.html), [], 'elements without a ring around the focus');
    equal(seen.map((x) => x.order), seen.map((x) => x.order).sort((a, b) => a - b), 'order of the focus, as on the page');
    ok(seen.filter((x) => x.grid).length <= 1, `the matrix has ${seen.filter((x) => x.grid).length} stops of the Tab key`);
  }));
}

test('keyboard: letters in a text field are text', { smoke: true }, () => withPage({}, async (page) => {
  await places.app(page);
  const search = page.getByRole('searchbox').first();
  await search.focus();
  await page.keyboard.type('jk?');
  equal(await search.inputValue(), 'jk?', 'the text of the search');
}));
