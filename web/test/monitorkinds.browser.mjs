// Alarms of each kind, a watch of 60 charts, and the way from an event to the playground.
import { enter, ready, withPage } from './harness.mjs';
import { api, clean, says, watched } from './monitor.browser.mjs';
import { pretend } from './monitordata.mjs';
import { equal, ok, test, until } from './tests.mjs';

const kinds = {
  agent: [/The agent fails more often: promise-01/, /model\s+small-2026-01\s+small-2026-03/, /Failed events/],
  judge: [/The judge decides differently: promise-02/, /judge\s+judge:small\s+judge:large/, /Who is right\?/, /Labels by people show whether the agent or the judge has changed/],
  mix: [/The mix of the traffic has changed/, /segment\s+de: 25 %\s+de: 61 %/, /The traffic of the watch/],
  silent: [/Nothing is known/, /the daily budget is spent/, /The traffic of the watch/],
};

for (const [kind, expected] of Object.entries(kinds)) {
  test(`monitor: an alarm of kind ${kind}`, {}, async () => {
    for (const options of [{}, { width: 390, theme: 'dark' }]) {
      await withPage(options, async (page) => {
        const sv = await pretend(page, 3);
        await enter(page, sv.server, '/alarms');
        await says(page, /Alarms/);
        await page.getByRole('link', { name: expected[0] }).first().click();
        for (const what of expected) await says(page, what);
        equal(await page.getByRole('button', { name: 'Acknowledge', exact: true }).count(), 1, 'the button that acknowledges');
        equal(await page.getByText('Add to a dataset').count(), kind === 'agent' ? 1 : 0, 'the way to a dataset, which takes failed events');
        ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'it scrolls sideways');
        await clean(page, `an alarm of kind ${kind}`);
      });
    }
  });
}

test('monitor: a watch of 60 charts', {}, () => withPage({}, async (page) => {
  const sv = await pretend(page, 60, { warnings: ['promise-07 needs a model as judge, and this server has none: no judge model is configured'] });
  await enter(page, sv.server, '/monitor/tone');
  await ready(page);
  await until(async () => (await page.locator('svg.control').count()) === 60, '60 charts');
  ok((await page.locator('.tile h2').first().innerText()).startsWith('promise-01'), 'the chart in alarm is not the first');
  await says(page, /promise-07 needs a model as judge/);
  ok((await page.locator('main *').count()) < 20_000, `${await page.locator('main *').count()} elements`);
  await clean(page, '60 charts');
  await page.getByLabel('Assertion').selectOption('promise-42');
  await until(() => new URL(page.url()).searchParams.get('assertion') === 'promise-42', 'the assertion in the address');
}));

test('traffic: from an event to the playground', {}, () => withPage({}, async (page) => {
  const sv = await watched(0);
  await api(sv, 'POST', '/v1/events', { events: [{ id: 'a/../b', agent: 'support', conversation: 'c/1', input: 'Where is my parcel?', output: 'Thank you, it is on its way.' }] });
  await until(async () => (await api(sv, 'GET', '/v1/watches/tone')).queue.pending === 0, 'the event is evaluated');
  await enter(page, sv.server, '/traffic');
  await page.locator('main tbody a').first().click();
  await says(page, /Event a\/\.\.\/b/);
  await page.getByRole('link', { name: 'c/1' }).click();
  await says(page, /1 event, the oldest first/);
  await page.goBack();
  await page.getByRole('button', { name: 'Open in the playground' }).click();
  await until(() => new URL(page.url()).pathname === '/playground', 'the playground');
  await ready(page);
  equal(await page.getByRole('textbox', { name: /^Input/ }).inputValue(), 'Where is my parcel?', 'the input');
  await says(page, /Thank you, it is on its way\./);
}));
