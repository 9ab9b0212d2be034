// One watch: the charts of its assertions, the differences in a range, and thumbs.
import type { AlarmShown, ChartView, Page, SeriesLine, WatchDifferences, WatchSeries, WatchThumbs, WatchView } from '../api';
import { get, useLoad } from '../load';
import { count, dollars, duration, percent, plural, points, when } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty } from '../parts/states';
import { plain, shorten } from '../text';
import { address, change, usePlace } from '../url';
import { Chart, type Mark } from '../watch/chart';
import { WatchMark, alarmPage, causeText, kindOf, named } from '../watch/state';
import { Field, Filters } from './filters';
import { Heading } from './heading';
import { items } from './items';
import { Table, type Col } from './table';

const spans: [key: string, label: string, hours: number][] = [['24h', '24 hours', 24], ['7d', '7 days', 168], ['14d', '14 days', 336], ['30d', '30 days', 720], ['90d', '90 days', 2160]];

export function WatchPage({ name }: { name: string }) {
  const { query } = usePlace();
  const span = spans.find(([key]) => key === query.get('range')) ?? spans[2]!, by = query.get('by') === 'segment' ? 'segment' : 'version', one = query.get('assertion') ?? '';
  const base = '/v1/watches/' + encodeURIComponent(name);
  const hour = Math.floor(Date.now() / 3.6e6), from = query.get('from') ?? '', to = query.get('to') ?? '';
  const watch = useLoad((signal) => get<WatchView>(base, signal), [name]);
  const range = { from: new Date((hour + 1 - span[2]) * 3.6e6).toISOString(), to: new Date((hour + 1) * 3.6e6).toISOString() };
  const path = address(base + '/series', { ...range, by, assertion: one });
  const series = useLoad((signal) => get<WatchSeries>(path, signal), [path]);
  const alarms = useLoad((signal) => get<Page<AlarmShown>>(address('/v1/alarms', { watch: name, since: range.from, limit: '100' }), signal).then(items), [name, range.from]);
  const names = [...new Set((watch.data?.charts ?? []).map((c) => c.assertion))].sort();
  return (
    <>
      <Heading title={name} crumb={<a href="/monitor">Monitor</a>} beside={watch.data && <WatchMark state={watch.data.state} />}><CopyLink /><Download href={path} name={name + '-series.json'}>Download JSON</Download></Heading>
      <Data of={watch} what="the watch">{(w) => <About w={w} />}</Data>
      <Filters active={!!one || query.has('range') || query.has('by')} clear={['assertion', 'range', 'by', 'from', 'to']}>
        <Field label="Time"><select value={span[0]} onChange={(e) => change({ range: e.currentTarget.value, from: '', to: '' })}>{spans.map(([key, label]) => <option key={key} value={key}>Last {label}</option>)}</select></Field>
        <Field label="Assertion"><select value={one} onChange={(e) => change({ assertion: e.currentTarget.value })}><option value="">All</option>{names.map((n) => <option key={n} value={n}>{plain(n)}</option>)}</select></Field>
        <Field label="A line for each"><select value={by} onChange={(e) => change({ by: e.currentTarget.value === 'version' ? '' : e.currentTarget.value })}><option value="version">version and judge</option><option value="segment">segment</option></select></Field>
      </Filters>
      {from && to && <Differs key={from + to} base={base} from={from} to={to} />}
      <Data of={series} what="the charts">{(s) => (s.lines.length
        ? <><p class="muted">Shares that fail, with their 95 % intervals. Dotted: what may fail in control. Steps: what chance explains at this n (three standard errors above it); ringed points are higher. Bars: n. A gap: nothing was evaluated.</p><div class="charts">{order(s.lines, watch.data).slice(0, 60).map((l) => <Line key={[l.assertion, l.version, l.judge, l.segment].join('\n')} l={l} s={s} charts={watch.data?.charts ?? []} alarms={alarms.data ?? []} />)}</div></>
        : <Empty>Nothing was evaluated in the last {span[1]}. {watch.data && !watch.data.last_verdict && 'Verdicts appear once events of this agent arrive and are sampled.'}</Empty>)}</Data>
      <Thumbs base={base} from={range.from} to={range.to} />
    </>
  );
}

// order puts assertions in alarm first, then the worst rates.
function order(lines: SeriesLine[], w?: WatchView): SeriesLine[] {
  const alarm = (l: SeriesLine) => (chartOf(l, w?.charts ?? [])?.state === 'alarm' ? 1 : 0);
  return [...lines].sort((a, b) => alarm(b) - alarm(a) || (b.total.rate ?? -1) - (a.total.rate ?? -1));
}

const chartOf = (l: SeriesLine, charts: ChartView[]): ChartView | undefined =>
  l.segment !== undefined ? undefined : charts.find((c) => c.assertion === l.assertion && (c.version ?? '') === (l.version ?? '') && (c.judge ?? '') === (l.judge ?? ''));

function About({ w }: { w: WatchView }) {
  return (
    <>
      {w.warnings?.map((text) => <p key={text} class="remark bad" role="status"><span aria-hidden="true">! </span>{plain(shorten(text, 500))}</p>)}
      {w.causes?.map((c) => <p key={c} class="remark bad" role="status">Silent: {causeText(c)}.{w.error && ' Last error: ' + plain(shorten(w.error, 300))}</p>)}
      <p class="muted">{w.false_alarms && plain(w.false_alarms) + ' '}{w.queue.pending > 0 && plural(w.queue.pending, 'event') + ' wait. '}{w.queue.dropped_today > 0 && count(w.queue.dropped_today) + ' were not evaluated today, because too many waited. '}Spent today: {dollars(w.spend.spent)}{w.spend.budget ? ' of ' + dollars(w.spend.budget) : ''}{w.spend.uncertain > 0 && ', and perhaps ' + dollars(w.spend.uncertain) + ' more'}.</p>
      <details><summary>As it is configured (version {w.version})</summary><pre tabIndex={0}>{plain(JSON.stringify(w.watch, null, 2))}</pre></details>
    </>
  );
}

// begins returns marks where later versions and judges of the assertion begin.
function begins(l: SeriesLine, s: WatchSeries): Mark[] {
  if (l.segment !== undefined) return [];
  const own = l.buckets.find((b) => b)?.start;
  return s.lines.filter((o) => o.assertion === l.assertion && (o.version !== l.version || o.judge !== l.judge)).flatMap((o) => {
    const first = o.buckets.find((b) => b);
    if (!first || o.buckets[0] || !own || first.start <= own) return []; // it began earlier, or before the shown range
    const what = o.version !== l.version ? 'version ' + shorten(o.version || 'none', 40) : 'judge ' + shorten(o.judge || 'none', 40);
    return [{ at: first.start, kind: 'change' as const, label: what + ' begins' }];
  });
}

function Line({ l, s, charts, alarms }: { l: SeriesLine; s: WatchSeries; charts: ChartView[]; alarms: AlarmShown[] }) {
  const chart = chartOf(l, charts), t = l.total, of = l.segment !== undefined ? 'segment ' + (l.segment || 'none') : [l.version && 'version ' + l.version, l.judge && 'judge ' + shorten(l.judge, 60)].filter(Boolean).join(', ');
  const own = alarms.filter((a) => a.assertion === l.assertion && (l.segment !== undefined || (a.version ?? '') === (l.version ?? '')));
  const marks: Mark[] = [...begins(l, s), ...own.flatMap((a) => [{ at: a.opened, kind: 'alarm' as const, label: kindOf(a), href: alarmPage(a.id) }, ...a.changed.map((c) => ({ at: c.at, kind: 'change' as const, label: `${c.what} ${named(c.what, c.from) || 'none'} to ${named(c.what, c.to) || 'none'}` }))])];
  const corrected = t.corrected;
  return (
    <section class="tile" aria-label={plain(l.assertion + (of && ', ' + of))}>
      <h2>{plain(l.assertion)} {of && <span class="muted">{plain(of)}</span>}</h2>
      <p class="num">{t.rate === null ? <span class="muted">no verdict</span> : t.n < 30 ? <strong>{count(t.fail)} of {count(t.n)} fail</strong> : <strong>{percent(t.rate)} fail</strong>}{t.rate !== null && <span class="muted"> 95 %: {percent(t.low)} to {percent(t.high)}, n = {count(t.n)}</span>}{t.errors ? <span class="status error"> <span aria-hidden="true">! </span>{plural(t.errors, 'error')}</span> : null}</p>
      {corrected ? <p class="num">By people: {percent(corrected.rate)} fail ({percent(corrected.low)} to {percent(corrected.high)}, {plural(corrected.labels ?? 0, 'label')})</p> : l.note && l.judge && <p class="muted">The judge's rate, not corrected by labels.</p>}
      <Chart label={`Rate of failures of ${plain(l.assertion)}${of && ', ' + plain(of)}`} buckets={l.buckets} from={s.from} stepS={s.step_s} inControl={chart?.in_control ?? null} marks={marks} choose={(from, to) => change({ from, to })} />
      {chart && <p class="muted">{chart.state === 'learning' ? `Learning: ${count(chart.entered)} of 200 evaluations. ` : `In control up to ${percent(chart.in_control)} (${chart.source === 'objective' ? 'the objective' : 'the baseline'})${chart.state === 'alarm' ? '' : `; evidence for a rise: ${percent(Math.min(1, chart.value))} of what raises an alarm`}. `}{chart.smallest_change !== null ? `A rise of ${points(chart.smallest_change)} is seen within a week.` : chart.state !== 'learning' && 'No rise is seen within a week: too few evaluations.'}</p>}
    </section>
  );
}

const mixColumns: Col<WatchDifferences['mix'][number]>[] = [
  { label: 'What', wide: true, cell: (m) => <>{plain(m.what)}: <strong>{plain(named(m.what, m.value)) || 'none'}</strong>{m.new && ' (new)'}</> },
  { label: 'Before', num: true, cell: (m) => percent(m.before) },
  { label: 'Within', num: true, cell: (m) => percent(m.within) },
  { label: 'Change', num: true, cell: (m) => points(m.within - m.before) },
];

// Differs shows how a range differs from the time before it.
function Differs({ base, from, to }: { base: string; from: string; to: string }) {
  const loaded = useLoad((signal) => get<WatchDifferences>(address(base + '/differences', { from, to }), signal), [base, from, to]);
  const figure = (v: number | null, f: (n: number) => string) => (v === null ? '–' : f(v));
  return (
    <section class="differs" aria-labelledby="differs">
      <h2 id="differs">What differs from {when(from)} to {when(to)} <button type="button" class="link" onClick={() => change({ from: '', to: '' })}>Close</button></h2>
      <Data of={loaded} what="what differs">{(d) => (
        <>
          <p class="num">{plural(d.traffic.within.events, 'event')} ({count(Math.round(d.traffic.within.per_hour))} an hour), and {count(d.traffic.before.events)} in the time before. Mean latency {figure(d.traffic.before.latency_ms, duration)} before, {figure(d.traffic.within.latency_ms, duration)} within; cost of an event {figure(d.traffic.before.cost, dollars)}, {figure(d.traffic.within.cost, dollars)}.</p>
          {d.assertions.length > 0 && <Table caption="Assertions" rows={d.assertions.slice(0, 50)} id={(a) => a.assertion} cols={[
            { label: 'Assertion', wide: true, cell: (a) => plain(a.assertion) },
            { label: 'Fails before', num: true, cell: (a) => `${percent(a.before.rate)} (n = ${count(a.before.n)})` },
            { label: 'Fails within', num: true, cell: (a) => `${percent(a.within.rate)} (n = ${count(a.within.n)})` },
            { label: 'Change', num: true, cell: (a) => (a.change ? `${points(a.change.rate)} (${points(a.change.low)} to ${points(a.change.high)})` : '–') },
            { label: 'Worst', cell: (a) => a.by?.[0] && `${a.by[0].what} ${plain(shorten(a.by[0].value, 40)) || 'none'}: ${percent(a.by[0].rate.rate)}` },
          ]} />}
          {d.mix.length ? <Table caption="Traffic" cols={mixColumns} rows={d.mix} id={(m) => m.what + m.value} /> : <p class="muted">No version, model, prompt or segment has another share of the traffic.</p>}
          <p><a href={address('/traffic', { watch: d.watch, status: 'fail', since: d.from, until: d.to })}>Failed events of this time</a></p>
        </>
      )}</Data>
    </section>
  );
}

function Thumbs({ base, from, to }: { base: string; from: string; to: string }) {
  const loaded = useLoad((signal) => get<WatchThumbs>(address(base + '/thumbs', { from, to }), signal), [base, from, to]);
  const figure = (f?: { value: number; low: number | null; high: number | null }) => (f ? `${f.value.toFixed(2)}${f.low === null || f.high === null ? '' : ` (${f.low.toFixed(2)} to ${f.high.toFixed(2)})`}` : '–');
  return (
    <section aria-labelledby="thumbs">
      <h2 id="thumbs">Thumbs of users</h2>
      <Data of={loaded} what="thumbs">{(t) => (t.assertions.some((a) => a.votes)
        ? <><p class="muted">Figures are {plain(t.about)}. {plural(t.users, 'user')} voted. {t.note && plain(t.note)}</p>
          <Table caption="Thumbs" rows={t.assertions} id={(a) => a.assertion} cols={[
            { label: 'Assertion', wide: true, cell: (a) => plain(a.assertion) }, { label: 'Votes', num: true, cell: (a) => count(a.votes) },
            { label: 'Down: fail, pass', num: true, cell: (a) => `${count(a.down.fail)}, ${count(a.down.pass)}` }, { label: 'Up: fail, pass', num: true, cell: (a) => `${count(a.up.fail)}, ${count(a.up.pass)}` },
            { label: 'Voted: fail, pass', num: true, cell: (a) => `${percent(a.voted.fail)}, ${percent(a.voted.pass)}` },
            { label: 'Odds ratio', num: true, cell: (a) => figure(a.odds_ratio) }, { label: 'AUC', num: true, cell: (a) => figure(a.graded_auc ?? a.auc) },
            { label: 'Note', cell: (a) => a.note && plain(a.note) },
          ]} /></>
        : <p class="muted">Nobody voted on an evaluated event in this time. POST /v1/feedback takes thumbs.</p>)}</Data>
    </section>
  );
}
