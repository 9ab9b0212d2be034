// Assertions with their history over runs: can this check be trusted?
import type { AssertionHistory, Judge } from '../api';
import { get, useLoad } from '../load';
import { count, plural, when } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty } from '../parts/states';
import { plain, shorten } from '../text';
import { address, change, usePlace } from '../url';
import { AlignmentLine, benchAddress } from './alignment';
import { Delta, Rate, Spark, difference, rate } from './figures';
import { Field, Filters, Search } from './filters';
import { Heading } from './heading';
import { HistoryChart } from './history';
import { every, items, type Items } from './items';
import { Table, type Col } from './table';

const listed = 200;

export default function Assertions() {
  const { query } = usePlace();
  const suite = query.get('suite') ?? '', a = query.get('a');
  return a === null ? <List suite={suite} /> : <One key={suite + '\n' + a} suite={suite} name={a} />;
}

const last = (h: AssertionHistory) => h.history.at(-1);

// changed returns the difference between the last two runs that decided the assertion.
function changed(h: AssertionHistory) {
  const known = h.history.filter((x) => rate(x) !== null);
  return known.length < 2 ? null : difference(known.at(-2)!, known.at(-1)!);
}

const orders: Record<string, [name: string, key: (h: AssertionHistory) => number]> = {
  '': ['Worst first', (h) => { const l = last(h); return l ? rate(l) ?? 2 : 2; }],
  change: ['By change', (h) => changed(h)?.value ?? 2],
  errors: ['Most errors', (h) => -(last(h)?.errors ?? 0)],
};

function List({ suite }: { suite: string }) {
  const { query } = usePlace();
  const q = (query.get('q') ?? '').toLowerCase(), kind = query.get('kind') ?? '', sort = query.get('sort') ?? '', many = query.get('show') === 'all';
  const at = address('/v1/assertions', { suite, runs: '20', limit: '1000' });
  const loaded = useLoad((signal) => every<AssertionHistory>(at, signal), [at]);
  const all = useLoad((signal) => (suite ? every<AssertionHistory>('/v1/assertions?runs=1&limit=1000', signal) : Promise.resolve(null)), [suite]);
  const suites = [...new Set([...((suite ? all.data : loaded.data) ?? []).map((h) => h.suite), ...(suite ? [suite] : [])])].sort();
  const key = orders[Object.hasOwn(orders, sort) ? sort : '']![1];
  const clear = () => change({ suite: '', q: '', kind: '' });
  return (
    <>
      <Heading title="Assertions"><CopyLink /><Download href={at} name="assertions.json">Download JSON</Download></Heading>
      <Filters active={!!(suite || q || kind)} clear={['suite', 'q', 'kind']}>
        <Field label="Suite"><select value={suite} onChange={(e) => change({ suite: e.currentTarget.value })}><option value="">All</option>{suites.map((s) => <option key={s} value={s}>{plain(s)}</option>)}</select></Field>
        <Field label="Kind"><select value={kind} onChange={(e) => change({ kind: e.currentTarget.value })}><option value="">All</option><option value="judged">Judged</option><option value="exact">Not judged</option></select></Field>
        <Field label="Order"><select value={sort} onChange={(e) => change({ sort: e.currentTarget.value })}>{Object.entries(orders).map(([id, [name]]) => <option key={id} value={id}>{name}</option>)}</select></Field>
        <Search label="Search assertions" />
      </Filters>
      <Data of={loaded} what="assertions">{(data) => {
        const found = data.filter((h) => (!q || (h.assertion + ' ' + h.type).toLowerCase().includes(q)) && (!kind || h.judged === (kind === 'judged')));
        if (!data.length && !suite) return <Empty command="proviso eval -c suite.yaml">No run has assertions yet. Run a suite with assertions, then open this page again.</Empty>;
        if (!found.length) return <Empty>No assertion matches these filters. <button type="button" class="link" onClick={clear}>Clear filters</button></Empty>;
        const sorted = found.map((h) => [key(h), h] as const).sort((x, y) => x[0] - y[0]).map(([, h]) => h);
        return (
          <>
            <p class="counted muted" role="status">{plural(found.length, 'assertion')}, over the last 20 runs of each suite</p>
            <Table caption="Assertions" cols={columns} rows={many ? sorted.slice(0, 2000) : sorted.slice(0, listed)} id={(h) => h.suite + '\n' + h.assertion} />
            {!many && sorted.length > listed && <p><button type="button" onClick={() => change({ show: 'all' })}>Show {sorted.length > 2000 ? 'the first 2,000' : 'all'} of {count(sorted.length)}</button></p>}
          </>
        );
      }}</Data>
    </>
  );
}

const columns: Col<AssertionHistory>[] = [
  { label: 'Assertion', wide: true, cell: (h) => <><a href={address('/assertions', { suite: h.suite, a: h.assertion })}>{plain(shorten(h.assertion, 120))}</a><span class="sub muted">{plain([h.suite, h.type, h.judged && h.type !== 'judge' && 'judged'].filter(Boolean).join(' · '))}</span></> },
  { label: 'Last run', cell: (h) => (last(h) ? <Rate counts={last(h)!} /> : null) },
  { label: 'Change', num: true, cell: (h) => { const d = changed(h); return d ? <Delta {...d} /> : <span class="muted">–</span>; } },
  { label: 'Last 20', cell: (h) => <Spark rates={h.history.map(rate)} /> },
  { label: 'Errors', num: true, cell: (h) => count(last(h)?.errors ?? 0) },
  { label: 'Failing cases', cell: (h) => { const l = last(h); return l?.failed ? <a href={failing(h, l.run)}>{plural(l.failed, 'case')}<span class="hidden"> that fail {plain(h.assertion)}</span></a> : ''; } },
];

const failing = (h: AssertionHistory, run: string) => address('/runs/' + encodeURIComponent(run), { status: 'fail', a: h.assertion });

function One({ suite, name }: { suite: string; name: string }) {
  const at = address('/v1/assertions', { suite, a: name, runs: '100' });
  const loaded = useLoad((signal) => every<AssertionHistory>(address('/v1/assertions', { suite, runs: '100', limit: '1000' }), signal).then((all) => all.find((h) => h.assertion === name) ?? null), [at]);
  return (
    <>
      <Heading title={name} crumb={<><a href="/assertions">Assertions</a> / <a href={address('/assertions', { suite })}>{plain(suite || 'unnamed')}</a></>}><CopyLink /><Download href={address('/v1/assertions', { suite, runs: '100', limit: '1000' })} name="assertion.json">Download JSON</Download></Heading>
      <Data of={loaded} what="the history">{(h) => (h ? <History h={h} /> : <Empty>No run of this suite has this assertion. <a href="/assertions">All assertions</a></Empty>)}</Data>
    </>
  );
}

function History({ h }: { h: AssertionHistory }) {
  const l = last(h), d = changed(h), newest = [...h.history].reverse();
  type Point = AssertionHistory['history'][number];
  const cols: Col<Point>[] = [
    { label: 'Run', cell: (p) => <a href={address('/runs/' + encodeURIComponent(p.run), { a: h.assertion, status: 'all' })}><span class="nowrap">{when(p.started_at) || plain(p.run)}</span></a> },
    { label: 'Pass rate', cell: (p) => <Rate counts={p} /> },
    { label: 'Passed', num: true, cell: (p) => count(p.passed) },
    { label: 'Failed', num: true, cell: (p) => (p.failed ? <a href={failing(h, p.run)}>{count(p.failed)}</a> : '0') },
    { label: 'Errors', num: true, cell: (p) => count(p.errors) },
    { label: 'Skipped', num: true, cell: (p) => count(p.skipped) },
  ];
  return (
    <>
      <dl class="factlist">
        <div><dt>Type</dt><dd>{plain(h.type)}</dd></div>
        {l && <div><dt>Last run</dt><dd><Rate counts={l} /></dd></div>}
        {d && <div><dt>Change</dt><dd><Delta {...d} /></dd></div>}
        {l && l.failed > 0 && <div><dt>Failing</dt><dd><a href={failing(h, l.run)}>{plural(l.failed, 'case')} of the last run</a></dd></div>}
      </dl>
      <div class="two">
        <section aria-labelledby="chart"><h2 id="chart">Pass rate over runs</h2><HistoryChart points={h.history} /></section>
        <section aria-labelledby="table"><h2 id="table">Runs, newest first</h2><Table caption="Results by run, newest first" cols={cols} rows={newest} id={(p) => p.run} /></section>
      </div>
      {h.judged && <Judges h={h} />}
    </>
  );
}

// Judges shows how far the judges of an assertion can be trusted.
function Judges({ h }: { h: AssertionHistory }) {
  const loaded = useLoad((signal) => get<Items<Judge>>('/v1/judges', signal).then(items), []);
  return (
    <section aria-labelledby="judges">
      <h2 id="judges">Judges</h2>
      <Data of={loaded} what="judges">{(all) => <ul class="plainlist">{h.judges.map((name) => {
        const alignment = all.find((j) => j.judge === name)?.alignment ?? [];
        const measured = alignment.find((m) => m.criterion === h.assertion);
        return <li key={name}><a href={address('/judges', { judge: name })}>{plain(name)}</a> {measured ? <AlignmentLine m={measured} /> : <span class="muted">Its agreement with people on this assertion was not measured: <code>proviso align --template last</code></span>}{last(h) && <> <a href={benchAddress(name, last(h)!.run, h.assertion)}>Change it</a></>}</li>;
      })}</ul>}</Data>
      {!h.judges.length && <p class="muted">The runs do not name a judge.</p>}
    </section>
  );
}
