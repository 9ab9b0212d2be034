// The list of runs: did they pass?
import { useEffect, useState } from 'preact/hooks';
import type { Page, Run } from '../api';
import { get, useLoad } from '../load';
import '../frame';
import { count, dollars, duration, plural, when } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty } from '../parts/states';
import { plain, shorten } from '../text';
import { address, change, usePlace } from '../url';
import { Delta, Rate, Spark, difference, rate } from './figures';
import { Field, Filters, Search } from './filters';
import { Heading } from './heading';
import { Table, type Col } from './table';
import { RunVerdict, active, cutOff, runName, spent } from './verdict';

const shown = 50, searched = 500, earlier = 200;

// The options of the verdict filter.
const states: [string, string, (r: Run) => boolean][] = [
  ['fail', 'With failures', (r) => r.progress.failed > 0],
  ['error', 'With errors', (r) => r.progress.errors > 0],
  ['pass', 'All passed', (r) => r.status === 'done' && !cutOff(r) && r.progress.passed > 0 && !r.progress.failed && !r.progress.errors],
  ['running', 'Running', active],
  ['broken', 'Did not finish', (r) => r.status === 'failed' || r.status === 'cancelled' || cutOff(r)],
];

function matches(r: Run, state: string, q: string): boolean {
  const text = [r.suite, r.id, r.version, r.revision?.branch, r.revision?.commit].join(' ').toLowerCase();
  return (states.find(([id]) => id === state)?.[2](r) ?? true) && text.includes(q.toLowerCase());
}

export default function Runs() {
  const { query } = usePlace();
  const suite = query.get('suite') ?? '', state = query.get('status') ?? '', q = query.get('q') ?? '', after = query.get('after') ?? '';
  // The server filters neither by words nor by verdicts: the page loads more runs and shows
  // those that match.
  const limit = state || q ? searched : shown;
  const list = address('/v1/runs', { suite, after, limit: String(limit) });
  const runs = useLoad((signal) => get<Page<Run>>(list, signal), [list]);
  const past = usePast(runs.data?.next, suite);
  useReload(runs.data?.items.some(active) ?? false, runs.retry);
  const suites = useSuites(runs.data?.items, suite);
  return (
    <>
      <Heading title="Runs"><CopyLink /><Download href={list} name="runs.json">Download JSON</Download></Heading>
      <Filters active={!!(suite || state || q)} clear={['suite', 'status', 'q', 'after']}>
        <Field label="Suite"><select value={suite} onChange={(e) => change({ suite: e.currentTarget.value, after: '' })}>
          <option value="">All</option>{suites.map((s) => <option key={s} value={s}>{plain(s)}</option>)}
        </select></Field>
        <Field label="Result"><select value={state} onChange={(e) => change({ status: e.currentTarget.value, after: '' })}>
          <option value="">All</option>{states.map(([id, name]) => <option key={id} value={id}>{name}</option>)}
        </select></Field>
        <Search label="Search suite, id, branch, commit" />
      </Filters>
      <Data of={runs} what="runs">{(data) => {
        const found = data.items.filter((r) => matches(r, state, q));
        if (!data.items.length && !suite && !after) return <Empty command="proviso eval -c suite.yaml">There are no runs yet. Run a suite, then open this page again.</Empty>;
        if (!found.length) return <Empty>No run matches these filters{data.next ? ' among the ' + count(data.items.length) + ' runs that were searched' : ''}. <button type="button" class="link" onClick={() => change({ suite: '', status: '', q: '', after: '' })}>Clear filters</button></Empty>;
        return <RunTable runs={found} all={[...data.items, ...(past ?? [])]} of={state || q ? ' of the ' + count(data.items.length) + ' that were searched' + (data.next ? ', not of older ones' : '') : ' on this page'} />;
      }}</Data>
      {(runs.data?.next || after) && <nav class="paging" aria-label="More runs">
        {after && <a class="button" href={address('/runs', { suite, status: state, q })}>Newest</a>}
        {runs.data?.next && <a class="button" href={address('/runs', { suite, status: state, q, after: runs.data.next })}>{state || q ? 'Search older runs' : 'Older'}</a>}
      </nav>}
    </>
  );
}

// usePast loads the runs before those of the page. Their rates are needed for changes and
// lines.
function usePast(next: string | undefined, suite: string): Run[] | undefined {
  return useLoad((signal) => (next ? get<Page<Run>>(address('/v1/runs', { suite, after: next, limit: String(earlier) }), signal).then((p) => p.items) : Promise.resolve([])), [next, suite]).data;
}

// useReload reloads while the page is visible, more often if a run is running.
function useReload(live: boolean, retry: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => { if (!document.hidden) retry(); }, live ? 2000 : 20_000);
    return () => clearInterval(timer);
  }, [live]);
}

// useSuites keeps the suites seen so far, so that the filter can switch between them.
function useSuites(runs: Run[] | undefined, current: string): string[] {
  const [known, add] = useState<string[]>([]);
  useEffect(() => {
    add((old) => [...new Set([...old, ...(runs ?? []).map((r) => r.suite), ...(current ? [current] : [])])].sort());
  }, [runs, current]);
  return known;
}

// RunTable shows runs; of describes the list that they are a part of.
function RunTable({ runs, all, of }: { runs: Run[]; all: Run[]; of: string }) {
  const [picked, pick] = useState<string[]>([]);
  const toggle = (id: string) => pick((p) => (p.includes(id) ? p.filter((x) => x !== id) : [...p, id].slice(-2)));
  const pair = picked.map((id) => all.find((r) => r.id === id)).filter((r) => r !== undefined).sort((a, b) => a.created_at.localeCompare(b.created_at));
  const before = new Map<string, Run[]>(); // by run: the run and its predecessors, newest first
  const bySuite = new Map<string, Run[]>();
  for (const r of all) bySuite.set(r.suite, [...(bySuite.get(r.suite) ?? []), r]);
  for (const list of bySuite.values()) list.forEach((r, i) => before.set(r.id, list.slice(i, i + 20)));
  const cols: Col<Run>[] = [
    { label: 'Run', wide: true, cell: (r) => <><a href={address('/runs/' + encodeURIComponent(r.id))}>{plain(r.suite || 'unnamed')}</a><span class="sub muted">{plain(runName(r))}</span></> },
    { label: 'Started', cell: (r) => <span class="num nowrap">{when(r.started_at ?? r.created_at)}</span> },
    { label: 'Result', cell: (r) => <RunVerdict run={r} /> },
    { label: 'Pass rate', cell: (r) => <Rate counts={r.progress} /> },
    { label: 'Change', num: true, cell: (r) => <Change run={r} past={before.get(r.id)!} /> },
    { label: 'Last 20', cell: (r) => <Spark rates={before.get(r.id)!.map((x) => (complete(x) ? rate(x.progress) : null)).reverse()} /> },
    { label: 'Cost', num: true, cell: (r) => dollars(r.cost) },
    { label: 'Took', num: true, cell: (r) => { const ms = spent(r); return ms === null ? '' : <span class="nowrap">{duration(ms)}</span>; } },
    { label: 'Revision', cell: (r) => <Revision run={r} /> },
    { label: 'Compare', cell: (r) => <label class="check"><input type="checkbox" checked={picked.includes(r.id)} onChange={() => toggle(r.id)} /><span class="hidden">Compare {plain(r.suite)} {plain(r.id)}</span></label> },
  ];
  return (
    <>
      <p class="counted" role="status">
        <span class="muted">{plural(runs.length, 'run')}{of}. </span>
        {pair.length === 2
          ? <a class="button" href={address('/compare', { base: pair[0]!.id, head: pair[1]!.id })}>Compare the two selected runs</a>
          : <span class="muted">{picked.length ? 'Select one more run to compare.' : 'Select two runs to compare them.'}</span>}
      </p>
      <Table caption="Runs, newest first" cols={cols} rows={runs} id={(r) => r.id} />
    </>
  );
}

// Rates are comparable only between runs that have all rows.
const complete = (r: Run): boolean => r.status === 'done' && !cutOff(r) && rate(r.progress) !== null;

// Change compares a run with its predecessor of the same suite.
function Change({ run, past }: { run: Run; past: Run[] }) {
  const base = past.slice(1).find(complete);
  const d = base && complete(run) ? difference(base.progress, run.progress) : null;
  if (!d) return <span class="muted">–</span>;
  return <a class="plainlink" href={address('/compare', { base: base!.id, head: run.id })}><Delta {...d} /><span class="hidden"> to the run before, compare</span></a>;
}

function Revision({ run }: { run: Run }) {
  const v = run.revision;
  if (!v?.commit && !v?.branch) return null;
  return <span class="revision">{v.branch && <span>{plain(shorten(v.branch, 30))}</span>}{v.commit && <code>{plain(v.commit.slice(0, 8))}{v.dirty ? '+' : ''}</code>}</span>;
}
