// The monitor and the traffic explorer: from events to an alarm, and from an alarm to a
// dataset and to labels.
import { axe, enter, ready, serve, withPage } from './harness.mjs';
import { corpus } from './hostile.mjs';
import { equal, ok, test, until } from './tests.mjs';

export async function api(sv, method, path, body) {
  const reply = await fetch(sv.server.url + path, { method, headers: body ? { 'Content-Type': 'application/json' } : {}, body: body && JSON.stringify(body) });
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
  return reply.status === 204 ? undefined : reply.json();
}

export const main = (page) => page.locator('main').innerText();
export const says = (page, what) => until(async () => what.test(await main(page)), `${what} on the page`);
export const clean = async (page, what) => equal(await axe(page), [], `axe: ${what}`);

const hour = 3600e3, thanks = 'Thank you, your parcel is on its way.', plain = 'Your parcel is on its way.';

// event is the one with a number, of so many hours ago. From number 1,200 on, the agent is of
// version v2, and every third answer has no thanks; before, every fiftieth.
export function event(i, of = 1800) {
  const worse = i >= 1200, fails = worse ? i % 3 === 0 : i % 50 === 0;
  return {
    id: `e${i}`, agent: 'support', time: new Date(Date.now() - (hour * 60 * (of - i)) / of - 1000).toISOString(), conversation: `c${i}`, input: `Where is parcel ${i}?`, output: fails ? plain : thanks,
    version: worse ? 'v2' : 'v1', model: 'm', segment: { lang: i % 4 ? 'en' : 'de' }, user: `u${i % 9}`, latency_ms: 100 + (i % 7),
  };
}

// watched is a server with a watch and, if they are asked for, the events that raise its alarm.
// more is what an event has besides.
export async function watched(events = 1800, more = () => ({})) {
  const sv = await serve([]);
  await api(sv, 'PUT', '/v1/assertion-sets/returns', { assertions: [{ id: 'thanks', check: { type: 'icontains', value: 'thank' } }] });
  await api(sv, 'PUT', '/v1/watches/tone', { match: { agent: 'support' }, assertions: 'set:returns', sample: { rate: 1, segment: 'lang' }, false_alarms: { per_days: 30 } });
  for (let i = 0; i < events; i += 600) {
    await api(sv, 'POST', '/v1/events', { events: Array.from({ length: Math.min(600, events - i) }, (_, k) => ({ ...event(i + k), ...more(i + k) })) });
    await until(async () => (await api(sv, 'GET', '/v1/watches/tone')).queue.pending === 0, 'the events are evaluated');
  }
  return sv;
}

export const alarms = (sv) => until(async () => { const list = (await api(sv, 'GET', '/v1/alarms')).items; return list.length ? list : undefined; }, 'an alarm', 120_000);

test('monitor: empty pages say what to do', { smoke: true }, () => withPage({}, async (page) => {
  const sv = await serve([]);
  await enter(page, sv.server, '/monitor');
  await says(page, /There are no watches yet/);
  await says(page, /proviso monitor apply watches\.yaml --server http/);
  await says(page, /No agent has sent an event yet/);
  await clean(page, 'no watches');
  await page.getByRole('link', { name: 'Traffic', exact: true }).click();
  await says(page, /No event has come yet/);
  await clean(page, 'no traffic');
  await page.goto(`${sv.server.url}/alarms`);
  await says(page, /There has been no alarm yet/);
  await page.goto(`${sv.server.url}/monitor/none`);
  await says(page, /no watch/i);
  await page.goto(`${sv.server.url}/traffic?event=none`);
  await says(page, /no event/i);
}));

test('monitor: what is not known is not green', { smoke: true }, () => withPage({}, async (page) => {
  const sv = await watched(0);
  await enter(page, sv.server, '/monitor');
  await says(page, /Learning: not enough data/);
  equal(await page.locator('.status.pass').count(), 0, 'green marks of a watch that knows nothing');
  await page.getByRole('link', { name: 'tone' }).first().click();
  await says(page, /Nothing was evaluated in the last 14 days/);
  await clean(page, 'a watch without verdicts');
}));

test('monitor: from events to an alarm, and on to a dataset and to labels', { smoke: true }, () => withPage({}, async (page) => {
  const sv = await watched();
  const [alarm] = await alarms(sv);
  await enter(page, sv.server, '/monitor');
  await says(page, /Open alarms \(1\)/);
  await clean(page, 'overview');
  await page.getByRole('link', { name: 'The agent fails more often: thanks' }).click();
  await says(page, /What else changed at that time/);
  await says(page, /version\s+v1\s+v2/);
  await clean(page, 'an alarm');
  await page.getByRole('button', { name: 'Acknowledge', exact: true }).click();
  await says(page, /Acknowledged/);
  await page.getByLabel('Note').fill('the vendor <b>knows</b>');
  await page.getByRole('button', { name: 'Save the note' }).click();
  await says(page, /the vendor <b>knows<\/b>/);
  await page.getByRole('button', { name: 'Replace the note' }).waitFor();
  equal((await api(sv, 'GET', `/v1/alarms/${alarm.id}`)).state, 'acked', 'the state of the alarm');
  await page.getByText('Add to a dataset').click();
  const dataset = page.locator('details', { hasText: 'Add to a dataset' });
  await dataset.getByLabel('Name').fill('thankless');
  await page.getByRole('button', { name: 'Add cases' }).click();
  await says(page, /cases added to thankless/);
  ok((await api(sv, 'GET', '/v1/datasets/thankless')).items.length > 20, 'cases of the dataset');
  await page.getByText('Label them').click();
  await page.locator('details', { hasText: 'Label them' }).getByLabel('Name').fill('look');
  await page.getByRole('button', { name: 'Make a queue' }).click();
  await says(page, /items to label in look/);
  await page.getByRole('link', { name: 'look', exact: true }).click();
  await says(page, /Your parcel is on its way/);
  await page.keyboard.press('2');
  await until(async () => (await api(sv, 'GET', '/v1/labels')).items.some((l) => l.event && l.label === 'fail'), 'a label on an event');
  await page.getByRole('navigation').getByRole('link', { name: 'Monitor', exact: true }).click();
  await page.getByRole('link', { name: 'tone', exact: true }).first().click();
  await page.getByLabel('Time').selectOption('7d');
  await says(page, /33 % fail|3\d % fail/);
  equal(await page.locator('svg.control').count(), 2, 'charts, one for each version');
  await clean(page, 'charts');
  await page.getByText('Table', { exact: true }).first().click();
  await page.getByRole('button', { name: 'What differs' }).last().click();
  await says(page, /What differs from/);
  ok(new URL(page.url()).searchParams.get('from'), 'the range is in the address');
  await page.reload();
  await ready(page);
  await says(page, /What differs from/);
  await clean(page, 'what differs');
}));

test('monitor: a range is chosen by the mouse', {}, () => withPage({}, async (page) => {
  const sv = await watched(600);
  await enter(page, sv.server, '/monitor/tone?range=7d');
  const chart = page.locator('svg.control').first();
  await chart.scrollIntoViewIfNeeded();
  const box = await chart.boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 50);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.9, box.y + 50, { steps: 5 });
  await page.mouse.up();
  await says(page, /What differs from/);
  const { from, to } = Object.fromEntries(new URL(page.url()).searchParams);
  ok(Date.parse(to) - Date.parse(from) > 24 * hour, `the range ${from} to ${to}`);
  await page.getByRole('button', { name: 'Close' }).click();
  await until(() => !new URL(page.url()).searchParams.has('from'), 'the range is gone');
}));

test('traffic: filters, an event beside its verdicts, its conversation', { smoke: true }, () => withPage({}, async (page) => {
  const sv = await watched(600);
  await api(sv, 'POST', '/v1/feedback', { event: 'e599', user: 'eve', value: -1, comment: 'no thanks' });
  await enter(page, sv.server, '/traffic');
  await page.getByRole('table', { name: 'Events, newest first' }).waitFor();
  equal(await page.locator('main tbody tr').count(), 50, 'events of a page');
  await clean(page, 'events');
  await page.getByLabel('Verdict').selectOption('fail');
  await until(async () => (await page.locator('main tbody tr').count()) === 12, 'the events with a fail');
  await page.getByLabel('Search texts').fill('parcel 550');
  await until(async () => (await page.locator('main tbody tr').count()) === 1, 'the event with a text');
  await page.getByLabel('Search texts').fill('nothing has this text');
  await says(page, /No event matches these filters/);
  await clean(page, 'no event');
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await page.getByRole('table', { name: 'Events, newest first' }).waitFor();
  await page.getByLabel('Thumbs').selectOption('down');
  await until(async () => (await page.locator('main tbody tr').count()) === 1, 'the event with a thumb');
  await page.locator('main tbody a').first().click();
  await says(page, /Where is parcel 599\?/);
  await says(page, /down by eve/);
  await says(page, /thanks/);
  await clean(page, 'an event');
  await page.getByRole('link', { name: 'c599' }).click();
  await says(page, /1 event, the oldest first/);
  await clean(page, 'a conversation');
}));

test('traffic: hostile texts stay text', {}, () => withPage({}, async (page) => {
  const sv = await watched(0);
  await api(sv, 'POST', '/v1/events', { events: corpus.filter((c) => c.text.length < 1e6).map(({ text }, i) => ({ id: `h${i}`, agent: 'support', conversation: 'talk', input: text, output: text, context: text, version: 'v', user: 'u', segment: { lang: 'de' }, metadata: { text } })) });
  await until(async () => (await api(sv, 'GET', '/v1/watches/tone')).queue.pending === 0, 'the events are evaluated');
  await enter(page, sv.server, '/traffic');
  await page.getByRole('table', { name: 'Events, newest first' }).waitFor();
  await page.goto(`${sv.server.url}/traffic?conversation=talk`);
  await says(page, /the oldest first/);
  ok(!(await page.evaluate(() => document.querySelector('main img, main script, main iframe'))), 'markup of a text is in the page');
  await page.goto(`${sv.server.url}/monitor/tone`);
  await says(page, /thanks/);
}));

for (const width of [390, 768]) {
  test(`monitor: ${width} px, dark`, {}, () => withPage({ width, theme: 'dark' }, async (page) => {
    const sv = await watched(600);
    for (const path of ['/monitor', '/monitor/tone', '/traffic', '/traffic?event=e599', '/alarms']) {
      await page.goto('about:blank');
      await enter(page, sv.server, path);
      await ready(page);
      await until(async () => (await main(page)).length > 60, `the page ${path}`);
      ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${path} scrolls sideways`);
      await clean(page, path);
    }
  }));
}
