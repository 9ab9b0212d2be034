// What people do without a mouse.
import { enter, ready, view, withPage } from './harness.mjs';
import { equal, ok, test, until } from './tests.mjs';
import { ids } from './app.browser.mjs';
import { drawer, screens } from './screens.mjs';

const server = () => view('support', 'before', 'repeats', 'passed');

// focused describes the element that has the focus.
export const focused = (page) => page.evaluate(() => {
  const e = document.activeElement;
  const active = e?.getAttribute('aria-activedescendant');
  return { tag: e?.tagName ?? '', role: e?.getAttribute('role') ?? '', text: (e?.getAttribute('aria-label') ?? e?.textContent ?? '').trim().slice(0, 80), active: active ?? '', id: e?.id ?? '' };
});

// tabTo presses Tab until the focus is at what is asked for.
async function tabTo(page, wanted, what, limit = 80) {
  for (let i = 0; i < limit; i++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(wanted)) return i + 1;
  }
  throw new Error(`${what} was not reached with ${limit} times Tab`);
}

test('keyboard: from the runs to the first failing case and back', { smoke: true }, () => withPage({}, async (page) => {
  await enter(page, await server(), '/runs');
  await tabTo(page, () => document.activeElement?.closest('main') && document.activeElement.tagName === 'A' && document.activeElement.textContent.includes('support-bot'), 'the run support-bot');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/runs\/[^/?]+/);
  await ready(page);
  const run = page.url();
  await tabTo(page, () => !!document.activeElement?.closest('[role="grid"]'), 'the matrix');
  const before = await focused(page);
  const box = drawer(page);
  await box.getByText('I already told you that.').first().waitFor(); // the worst case is open at first
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await box.getByText('The output has 74 words, more than 60').first().waitFor();
  await page.keyboard.press('k');
  await box.getByText('I already told you that.').first().waitFor();
  ok(await page.evaluate(() => !!document.activeElement?.closest('[role="dialog"], aside, [role="complementary"]')), `the focus did not move to the case: it is at ${JSON.stringify(await focused(page))}`);
  ok(page.url() !== run, 'the open case is not in the address');
  await page.keyboard.press('Escape');
  await box.waitFor({ state: 'detached' });
  await until(() => page.evaluate(() => !!document.activeElement?.closest('[role="grid"]')), 'the focus in the matrix again');
  const after = await focused(page);
  equal(after.role, before.role, 'role of the element with the focus after Escape');
  for (let i = 0; i < 6 && new URL(page.url()).pathname !== '/runs'; i++) await page.goBack();
  equal(new URL(page.url()).pathname, '/runs', 'the page after going back');
  await ready(page);
}));

for (const s of screens.filter((s) => s.name !== 'docs')) {
  test(`keyboard: order and names of what has the focus, ${s.name}`, { smoke: s.name === 'run' }, () => withPage({ height: 4000 }, async (page) => {
    await enter(page, await server(), s.path(ids()));
    equal(await page.locator('[tabindex]').evaluateAll((all) => all.filter((e) => e.tabIndex > 0).map((e) => e.outerHTML.slice(0, 100))), [], 'elements with a place of their own in the order');
    await page.evaluate(() => document.activeElement?.blur?.());
    const seen = [];
    for (let i = 0; i < 120; i++) {
      await page.keyboard.press('Tab');
      const at = await page.evaluate(() => {
        const e = document.activeElement;
        if (!e || e === document.body) return null;
        const r = e.getBoundingClientRect(), c = getComputedStyle(e);
        return {
          name: (e.getAttribute('aria-label') ?? e.textContent ?? '').trim().slice(0, 40), html: e.outerHTML.slice(0, 120), grid: !!e.closest('[role="grid"]'), order: [...document.querySelectorAll('*')].indexOf(e),
          seen: r.width > 0 && r.height > 0 && c.visibility === 'visible', ring: (c.outlineStyle !== 'none' && parseFloat(c.outlineWidth) >= 1) || c.boxShadow !== 'none' || !!e.closest('[role="grid"]'),
        };
      });
      if (!at || seen.some((x) => x.order === at.order)) break;
      seen.push(at);
    }
    ok(seen.length >= 5, `only ${seen.length} elements can have the focus`);
    ok(/skip/i.test(seen[0].name), `the first element is ${seen[0].html}, not a link that skips to the content`);
    equal(seen.filter((x) => !x.seen).map((x) => x.html), [], 'elements with the focus that cannot be seen');
    equal(seen.filter((x) => !x.ring).map((x) => x.html), [], 'elements without a ring around the focus');
    equal(seen.map((x) => x.order), seen.map((x) => x.order).sort((a, b) => a - b), 'order of the focus, as on the page');
    ok(seen.filter((x) => x.grid).length <= 1 + 12, `the matrix has ${seen.filter((x) => x.grid).length} stops of the Tab key`);
  }));
}

test('keyboard: letters in a text field are text', { smoke: true }, () => withPage({}, async (page) => {
  await enter(page, await server(), screens.find((s) => s.name === 'run').path(ids()));
  const search = page.getByRole('searchbox').first();
  await search.focus();
  await page.keyboard.type('jk?');
  equal(await search.inputValue(), 'jk?', 'the text of the search');
}));
