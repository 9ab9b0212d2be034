// The pages of an alarm, a watch and of traffic in every state, by keyboard and at every
// width, and the ways from events to spade.
import { axe, enter, hold, ready, refuse, to, withPage } from './harness.mjs';
import { alarms, api, clean, main, says, watched } from './monitor.browser.mjs';
import { equal, ok, patience, test, until } from './tests.mjs';

const prompt = (i) => ({ prompt: 'You are the support agent.\n---\nAlways say thank you.' + (i >= 1200 ? '\nNever promise a refund.' : '') });

// raised is a server with an alarm, which the tests that change nothing share.
let shared;
const raised = () => (shared ??= (async () => {
  const sv = await watched(1800, prompt);
  return { sv, alarm: (await alarms(sv)).find((a) => a.kind === 'agent') };
})());

// pages are those that screens.mjs has not: they need traffic.
const pages = [
  ['a watch', () => '/monitor/tone?range=7d', '**/v1/watches/tone/series?**'], ['an alarm', (a) => `/alarms/${a.id}`, '**/v1/alarms/alarm_*'],
  ['the overview', () => '/monitor', '**/v1/alarms?**'], ['adoption', () => '/monitor', '**/v1/adoption'],
  ['events', () => '/traffic?status=fail', '**/v1/events?**'], ['an event', () => '/traffic?event=e1797', '**/v1/events/e1797'], ['a conversation', () => '/traffic?conversation=c1797', '**/v1/conversations/**'],
];

const fits = async (page, what) => ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${what} scrolls sideways`);

for (const [name, path, data] of pages) {
  test(`traffic: ${name} loads, fails and is tried again`, {}, () => withPage({}, async (page) => {
    const { sv, alarm } = await raised();
    await enter(page, sv.server, '/settings');
    const release = await hold(page, data);
    await page.goto(sv.server.url + path(alarm));
    await page.locator('[aria-busy="true"]').first().waitFor({ state: 'attached' });
    await clean(page, `${name}, loading`);
    release();
    await ready(page);
    await page.unroute(data);
    await refuse(page, data, 503);
    await page.reload();
    await page.getByRole('alert').first().waitFor();
    equal(await page.locator('main .status.pass').filter({ hasText: 'In control' }).count(), 0, 'watches that are shown as good');
    ok(!/No alarm is open/.test(await main(page)), 'alarms that cannot be loaded are said to be none');
    await clean(page, `${name}, failed`);
    await page.unroute(data);
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByRole('alert').first().waitFor({ state: 'detached' });
    await ready(page);
    await fits(page, name);
  }));

  test(`traffic: ${name} in forced colours, at 390 px, dark`, {}, async () => {
    const { sv, alarm } = await raised();
    for (const [options, what] of [[{ forcedColors: 'active' }, 'forced colours'], [{ width: 390, theme: 'dark' }, '390 px'], [{ width: 1440 }, '1440 px']]) {
      await withPage(options, async (page) => {
        await enter(page, sv.server, path(alarm));
        await fits(page, `${name}, ${what}`);
        equal(await axe(page), [], `axe: ${name}, ${what}`);
        equal(await page.locator('main .status').evaluateAll((all) => all.filter((e) => !/^\S+ \S/.test(e.textContent)).length), 0, `statuses without a sign and a word: ${name}, ${what}`);
      });
    }
  });
}

test('monitor: what differs, by keyboard', {}, () => withPage({}, async (page) => {
  const { sv } = await raised();
  await enter(page, sv.server, '/monitor/tone?range=7d&assertion=thanks');
  const chart = page.getByRole('region', { name: 'thanks, version v2' });
  equal(await chart.getByRole('row').count(), 0, 'rows of a table that is closed');
  await to(page, chart.getByText('Table', { exact: true }));
  await page.keyboard.press('Enter');
  await to(page, chart.getByRole('row').filter({ hasText: ' % to ' }).first().getByRole('button', { name: 'What differs' }));
  await page.keyboard.press('Enter');
  await says(page, /What differs from/);
  await says(page, /version: v2/);
  await to(page, page.getByRole('link', { name: 'Failed events of this time' }), 'Shift+Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('table', { name: 'Events, newest first' }).waitFor();
  ok(/status=fail/.test(page.url()) && /since=/.test(page.url()), `the filters of ${page.url()}`);
}));

test('monitor: charts say n, versions and limits, and can be read at 390 px', {}, () => withPage({ width: 390 }, async (page) => {
  const { sv } = await raised();
  await enter(page, sv.server, '/monitor/tone?range=7d');
  await says(page, /version v2 begins/);
  const [letters, n] = await page.locator('svg.control').first().evaluate((svg) => [svg.querySelector('text').getBoundingClientRect().height, svg.querySelector('.volume').getAttribute('d').length]);
  ok(letters >= 11, `letters of ${letters} px`);
  ok(n > 20, 'there are no bars of n');
}));

test('traffic: an alarm opens in spade, with the prompts of the agent', {}, () => withPage({}, async (page) => {
  const { sv, alarm } = await raised();
  await enter(page, sv.server, `/alarms/${alarm.id}`);
  const button = page.getByRole('button', { name: 'Open in Spade' });
  await button.click();
  await page.waitForURL(/\/spade\?of=texts/);
  await says(page, /Never promise a refund/);
  await says(page, /2 pasted versions/);
  await says(page, /Your parcel is on its way/);
  await page.goBack();
  await button.click();
  await says(page, /They are replaced/);
  await page.getByRole('button', { name: 'Replace the texts pasted in Spade' }).click();
  await page.waitForURL(/\/spade\?of=texts/);
}));

// An alarm takes half a minute, so that the smoke set opens spade from events.
test('traffic: events open in spade', { smoke: true }, () => withPage({}, async (page) => {
  const sv = await watched(3, prompt);
  await enter(page, sv.server, '/traffic?agent=support');
  const command = page.getByText(/^proviso spade update FOLDER --server http:\S+ --agent 'support'$/);
  await command.waitFor();
  await page.getByRole('button', { name: 'Copy command' }).click();
  await says(page, /Copied|Select the command instead/);
  await page.getByRole('button', { name: 'Open in Spade' }).click();
  await page.waitForURL(/\/spade\?of=texts/);
  await says(page, /Always say thank you/);
  await says(page, /1 pasted version/);
}));

test('traffic: without a known prompt, spade is not opened', {}, () => withPage({}, async (page) => {
  const sv = await watched(3);
  await enter(page, sv.server, '/traffic?agent=support');
  const command = page.getByText(/^proviso spade update FOLDER --server http:\S+ --agent 'support'$/);
  await command.waitFor();
  await page.getByRole('button', { name: 'Copy command' }).click();
  await says(page, /Copied|Select the command instead/);
  await page.getByRole('button', { name: 'Open in Spade' }).click();
  await says(page, /No text of a prompt of support is known/);
}));

test('traffic: pages of events and of a long conversation', {}, () => withPage({}, async (page) => {
  const sv = await watched(120, () => ({ conversation: 'long' }));
  await enter(page, sv.server, '/traffic?conversation=long');
  await says(page, /50 events of this page, the oldest first/);
  equal(await page.locator('.turn').count(), 50, 'events of the first page');
  await page.getByRole('link', { name: 'Later events' }).click();
  await page.getByText('Where is parcel 60?').waitFor();
  await page.getByRole('link', { name: 'Later events' }).click();
  await says(page, /20 events, the oldest first/);
  await page.goBack();
  await page.getByText('Where is parcel 60?').waitFor();
  await page.goto(`${sv.server.url}/traffic?agent=support`);
  await page.getByRole('link', { name: 'Older events' }).click();
  await page.getByText('Where is parcel 60?').waitFor();
}));

test('traffic: the server goes away and comes back', {}, async () => {
  const sv = await watched(30);
  await withPage({}, async (page) => {
    await enter(page, sv.server, '/traffic');
    await page.getByRole('table', { name: 'Events, newest first' }).waitFor();
    await sv.server.stop();
    await page.getByRole('link', { name: 'Monitor', exact: true }).click();
    await page.getByText(/does not reply/).first().waitFor();
    equal(await page.locator('.status.pass').count(), 0, 'green marks of a server that is gone');
    sv.server = await sv.start();
    await page.getByText(/does not reply/).first().waitFor({ state: 'detached', timeout: patience });
    await until(async () => /tone/.test(await main(page)), 'the watch is on the page again');
    await api(sv, 'GET', '/v1/watches/tone');
  }).catch((e) => { if (!/^the page had trouble:(\n  .*(fetch|ERR_CONNECTION|load module|dynamically imported).*)+$/i.test(e.message)) throw e; });
});
