// What a server says of a watch with many charts, of an alarm of each kind and of traffic, at
// a fixed time: pages are tried with it where real events would take long, or give another
// picture each time.
import { serve } from './harness.mjs';

export const now = new Date('2026-11-23T12:00:00Z');
const hour = 3600e3, at = (hours) => new Date(now.getTime() - hours * hour).toISOString();

// Shares go up and down in the same way each time.
const wave = (i, k) => 0.04 + 0.03 * Math.sin(i / 3 + k) ** 2;

function bucket(start, i, k, worse) {
  const n = 60 + ((i * 7 + k * 5) % 40), rate = worse && i > 80 ? 0.25 : wave(i, k), fail = Math.round(n * rate), p = fail / n, e = 1.96 * Math.sqrt(p * (1 - p) / n + 0.0004);
  return { start, n, fail, errors: 0, skipped: 0, rate: p, low: Math.max(0, p - e), high: Math.min(1, p + e), corrected: null, cost: 0 };
}

const kept = { n: 8000, entered: 7200, errors: 0, skipped: 0, rate: 0.05, low: 0.045, high: 0.055, in_control: 0.06, per_day: 240, smallest_change: 0.02, smallest_rate: 0.07, value: 0.1 };
const id = (k) => `promise-${String(k + 1).padStart(2, '0')}`;

// view is a watch with so many charts, of which the first is in alarm.
export const view = (charts, more = {}) => ({
  name: 'tone', version: 3, hash: 'f00d', created_at: at(900), updated_at: at(400), watch: { match: { agent: 'support' }, assertions: 'set:returns' }, anchors: 20, state: 'alarm', open_alarms: 1,
  queue: { pending: 0, dropped_today: 0 }, spend: { day: '2026-11-23', budget: 5, spent: 1.25, reserved: 0, uncertain: 0, events: 900 }, last_verdict: at(0.1),
  charts: Array.from({ length: charts }, (_, k) => ({ assertion: id(k), version: 'v13', judge: 'judge:small', ...kept, state: k ? 'watching' : 'alarm', source: k % 2 ? 'objective' : 'baseline' })),
  false_alarms: 'At most one false alarm in 30 days, on average, over all charts of the project: if nothing changes, 63 % of all months have at least one.', ...more,
});

export function series(charts) {
  const step = 3, from = now.getTime() - 336 * hour, slots = 336 / step;
  const lines = Array.from({ length: charts }, (_, k) => {
    const buckets = Array.from({ length: slots }, (_, i) => (i % 40 === 13 ? null : bucket(new Date(from + i * step * hour).toISOString(), i, k, k === 0)));
    const n = buckets.reduce((sum, b) => sum + (b?.n ?? 0), 0), fail = buckets.reduce((sum, b) => sum + (b?.fail ?? 0), 0);
    return { assertion: id(k), version: 'v13', judge: 'judge:small', buckets, total: { start: at(336), n, fail, errors: 0, skipped: 0, rate: fail / n, low: fail / n - 0.01, high: fail / n + 0.01, corrected: null, cost: 0 }, note: "judge's rate, not corrected" };
  });
  return { watch: 'tone', from: new Date(from).toISOString(), to: now.toISOString(), step_s: step * 3600, by: 'version', lines };
}

const common = { watch: 'tone', state: 'open', opened: at(20), closed: null, since: null, baseline: null, now: null, statistic: null, version: '', judge: '', changed: [], examples: [], notices: [], assertion: '' };
const rates = {
  since: { low: at(30), high: at(22) }, baseline: { rate: 0.044, upper: 0.057, n: 500 }, now: { rate: 0.207, low: 0.177, high: 0.238, n: 667, corrected: null }, statistic: { value: 261000, threshold: 198000, arl0_days: 30 },
  version: 'v13', judge: 'judge:small',
};

// alarms are one of each kind.
export const alarms = {
  agent: { ...common, ...rates, id: 'alarm_agent', kind: 'agent', assertion: id(0), reason: `${id(0)} fails in 20.7 % of 667 evaluations since 2026-11-22 06:00; no more than 5.7 % was expected (the baseline, 4.4 % of 500)`,
    changed: [{ what: 'model', from: 'small-2026-01', to: 'small-2026-03', at: at(26) }], examples: ['e2484', 'a/../b'],
    notices: [{ target: 'slack:oncall', event: 'opened', state: 'sent', attempts: 1, created_at: at(20), sent_at: at(19.9) }] },
  judge: { ...common, ...rates, id: 'alarm_judge', kind: 'judge', assertion: id(1), reason: `The judge decides 9 of 40 anchors of ${id(1)} differently than before`, changed: [{ what: 'judge', from: 'judge:small', to: 'judge:large', at: at(21) }] },
  mix: { ...common, id: 'alarm_mix', kind: 'mix', since: { low: at(60), high: at(36) }, reason: 'The share of lang de went from 25 % to 61 %', changed: [{ what: 'segment', from: 'de: 25 %', to: 'de: 61 %', at: at(48) }] },
  silent: { ...common, id: 'alarm_silent', kind: 'silent', cause: 'budget', reason: '$5.00 were spent today, and the budget is $5.00 a day' },
};

const texts = ['Where is my order?', 'Can I return a lamp that I have used for a week, and who pays for the parcel?', 'I was charged twice.'];
export const events = Array.from({ length: 12 }, (_, i) => ({
  id: `e${2484 - i}`, agent: 'support', time: at(i / 3), received: at(i / 3), conversation: `c${i % 5}`, kept: true, failed: i === 4, input: texts[i % 3], output: i === 4 ? '' : 'It arrives tomorrow. #1042', error: i === 4 ? 'the model did not answer' : undefined,
  version: 'v13', model: 'small-2026-03', prompt: 'sha256:' + '0123456789abcdef'.repeat(4), segment: { lang: i % 4 ? 'en' : 'de' }, user: `u${i}`, usage: { prompt_tokens: 420, completion_tokens: 60, total_tokens: 480 }, cost: 0.0004, latency_ms: 812, up: i % 3 ? 0 : 1, down: 0,
}));
const verdicts = [{ assertion: id(0), status: 'fail', reason: 'The answer does not end with the number of the ticket.', judge: 'judge:small', at: at(0.1) }, { assertion: id(1), status: 'pass', reason: 'The answer is friendly.', judge: 'judge:small', at: at(0.1) }];
const adoption = { measures: [], agents: [], pull_requests: [] };
const thumbs = { watch: 'tone', from: at(336), to: at(0), about: 'among those who voted', users: 0, assertions: [] };

// answers are what the server says, by path.
const answers = (charts, more) => [
  [/^\/v1\/watches$/, { items: [view(charts, more), { ...view(0), name: 'night', state: 'silent', causes: ['budget'], open_alarms: 1, charts: [] }, { ...view(0), name: 'young', state: 'learning', open_alarms: 0, charts: [] }] }],
  [/^\/v1\/watches\/tone$/, view(charts, more)], [/^\/v1\/watches\/tone\/series$/, series(charts)], [/^\/v1\/watches\/tone\/thumbs$/, thumbs], [/^\/v1\/adoption$/, adoption],
  [/^\/v1\/alarms$/, { items: Object.values(alarms) }], ...Object.values(alarms).map((a) => [new RegExp(`^/v1/alarms/${a.id}$`), a]),
  [/^\/v1\/agents$/, { items: [{ name: 'support', first: at(900), last: at(0.1), events: 9000 }] }],
  [/^\/v1\/events$/, { items: events }], [/^\/v1\/events\/e2484$/, { ...events[0], verdicts, feedback: [] }],
];

// pretend makes a page hear a server with a watch of so many charts, and returns the server
// that has the app.
export async function pretend(page, charts = 60, more = {}) {
  const sv = await serve([]), said = answers(charts, more);
  await page.clock.setFixedTime(now);
  await page.route('**/v1/**', (route) => {
    const { pathname: path, searchParams } = new URL(route.request().url()), found = said.find(([of]) => of.test(path));
    if (path === '/v1/alarms' && searchParams.get('state') === 'acked') return route.fulfill({ json: { items: [] } });
    return found ? route.fulfill({ json: found[1] }) : route.fallback();
  });
  return sv;
}
