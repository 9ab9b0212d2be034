// Two runs side by side: did the change make anything worse?
import { useEffect, useState } from 'preact/hooks';
import type { AssertionEffect, Comparison, Effect, Page, Run } from '../api';
import { runAddress } from '../http';
import { get, useLoad } from '../load';
import { count, dollars, duration, percent, plural, points, when } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty } from '../parts/states';
import { plain, shorten } from '../text';
import { address, change, go, usePlace } from '../url';
import { Changes } from './changes';
import { Delta, Whiskers, rate, rateWithInterval } from './figures';
import { Field } from './filters';
import { Heading } from './heading';
import { Table, type Col } from './table';
import { active, cutOff } from './verdict';

export default function Compare() {
  const { query } = usePlace();
  const head = query.get('head') ?? '', [base, none] = useBase(query.get('base') ?? '', head);
  const ready = !!(base && head);
  const at = address('/v1/compare', { base, head });
  const compared = useLoad((signal) => (ready ? get<Comparison>(at, signal) : Promise.resolve(null)), [at]);
  return (
    <>
      <Heading title="Compare">{ready && <><CopyLink /><Download href={at} name="compare.json">Download JSON</Download></>}</Heading>
      <Choice key={at} base={base} head={head} />
      {none ? <Empty>There is no earlier run of this suite that has ended. Choose a base above.</Empty> : ready
        ? <Data of={compared} what="the comparison">{(c) => c && <Result c={c} base={base} head={head} />}</Data>
        : <Empty command="proviso compare last~1 last">Choose two runs: one from before the change and one from after it. On the command line:</Empty>}
    </>
  );
}

// useBase resolves the base "previous" to the run before the head of the same suite. The
// second value is true if there is none.
function useBase(base: string, head: string): [base: string, none: boolean] {
  const before = useLoad(async (signal) => {
    if (base !== 'previous' || !head) return '';
    const run = await get<Run>(runAddress(head) + '?results=no', signal);
    const list = await get<Page<Run>>(address('/v1/runs', { suite: run.suite, until: run.created_at, limit: '5' }), signal);
    return list.items.find((r) => !active(r) && r.id !== head)?.id ?? '';
  }, [base, head]);
  useEffect(() => {
    if (base === 'previous' && before.data) change({ base: before.data }, true);
  }, [base, before.data]);
  return base === 'previous' ? ['', head !== '' && before.data === ''] : [base, false];
}

// Choice selects both runs. It applies on a click, so that moving through a list with the
// keyboard does not load each entry.
function Choice({ base, head }: { base: string; head: string }) {
  const runs = useLoad((signal) => get<Page<Run>>('/v1/runs?limit=200', signal), []);
  const list = runs.data?.items ?? [];
  const chosen = list.findIndex((r) => r.id === head);
  const suggested = list.slice(chosen + 1).find((r) => chosen >= 0 && r.suite === list[chosen]!.suite)?.id ?? '';
  const [b, setB] = useState(base), [h, setH] = useState(head);
  const from = b || (head && !base ? suggested : '');
  const select = (label: string, value: string, set: (v: string) => void) => (
    <Field label={label}><select value={value} onChange={(e) => set(e.currentTarget.value)}>
      <option value="">Choose a run</option>
      {value && !list.some((r) => r.id === value) && <option value={value}>{plain(value)}</option>}
      {list.map((r) => <option key={r.id} value={r.id}>{optionText(r)}</option>)}
    </select></Field>
  );
  return (
    <form class="filterrow choice" onSubmit={(e) => { e.preventDefault(); if (from && h) go(address('/compare', { base: from, head: h })); }}>
      {select('Base (before the change)', from, setB)}
      {select('Head (after the change)', h, setH)}
      <button type="submit" disabled={!from || !h || (from === base && h === head)}>Compare</button>
      {base && head && <button type="button" onClick={() => go(address('/compare', { base: head, head: base }))}>Swap</button>}
    </form>
  );
}

const optionText = (r: Run): string => [shorten(plain(r.suite), 40), when(r.started_at ?? r.created_at), percent(rate(r.progress)) + ' of ' + count(r.progress.finished) + (cutOff(r) ? ' rows, cut off' : ''), r.revision?.branch ? shorten(plain(r.revision.branch), 24) : '', plain(r.id)].filter(Boolean).join(' · ');

function Result({ c, base, head }: { c: Comparison; base: string; head: string }) {
  const only = c.cases.only_base.length + c.cases.only_head.length;
  return (
    <>
      <Decision c={c} />
      {c.warnings.length > 0 && <ul class="remark bad warnings" aria-label="Warnings">{c.warnings.map((w, i) => <li key={i}><span class="status error" aria-hidden="true">! </span>{plain(w)}</li>)}</ul>}
      <section class="effect" aria-labelledby="effect">
        <h2 id="effect">Whole suite</h2>
        <EffectLine e={c.suite} found={foundBy(c).get('')} />
        {c.suite.corrected && <p>Corrected for the errors of the judge: <Sides e={c.suite.corrected} /></p>}
        <p class="muted">{plural(c.pairs, 'pair')} of results{c.left_out ? ', ' + count(c.left_out) + ' left out because one of the two has an error' : ''}{only ? ', ' + plural(only, 'case') + ' in only one run' : ''}. Base <a href={'/runs/' + encodeURIComponent(base)}>{plain(base)}</a>, head <a href={'/runs/' + encodeURIComponent(head)}>{plain(head)}</a>.</p>
        <Costs c={c} />
      </section>
      <Assertions list={c.assertions} found={foundBy(c)} />
      <Changes c={c} base={base} head={head} />
    </>
  );
}

type Decided = NonNullable<Comparison['decision']>;

const outcomes = { pass: ['pass', '✓', 'Pass'], fail: ['fail', '✕', 'Fail'], inconclusive: ['error', '!', 'Inconclusive'] } as const;

// aside reports whether a reason did not decide. It may be a drop, so it gets no tick. A
// passing comparison is decided by one reason, the first.
const aside = (d: Decided, i: number): boolean => d.reasons[i]!.met && (d.decision !== 'pass' || i > 0);

// foundBy returns the assertions that the gate's test found to be worse, and '' if it found
// that of the suite. The test looks only for a drop, so the interval may contain 0.
function foundBy(c: Comparison): Map<string, string> {
  const drops = (c.decision?.reasons ?? []).filter((r) => r.rule === 'assertions' || (r.rule === 'suite' && !r.met));
  return new Map(drops.map((r) => [r.assertion ?? '', r.met ? 'below the margin of the gate' : 'decided the gate']));
}

function Decision({ c }: { c: Comparison }) {
  if (!c.decision) return null;
  const { decision, reasons, needed } = c.decision;
  const [tone, glyph, word] = outcomes[decision];
  return (
    <section class={'decision ' + tone} aria-labelledby="decision">
      <h2 id="decision"><span class={'status ' + tone}><span aria-hidden="true">{glyph} </span>{word}</span></h2>
      <ul>{reasons.map((r, i) => <li key={i}>{aside(c.decision!, i) ? <span class="muted">Note: </span> : <><span aria-hidden="true" class={'status ' + (r.met ? 'pass' : tone)}>{r.met ? '✓ ' : glyph + ' '}</span><span class="hidden">{r.met ? 'Met: ' : 'Not met: '}</span></>}{plain(r.text)}</li>)}</ul>
      {needed && <p>A decision needs about {plural(needed.cases, 'case')}{needed.repeats ? ', or ' + plural(needed.repeats, 'repeat') + ' of the same cases' : ''}.</p>}
    </section>
  );
}

function Sides({ e }: { e: Effect }) {
  return <span class="num nowrap">{rateWithInterval(e.base)} → {rateWithInterval(e.head)}</span>;
}

const most = (list: Effect[]): number => Math.max(0.05, ...list.flatMap((e) => [e.difference.low, e.difference.high, e.difference.value].map((v) => Math.abs(v ?? 0))));

const range = (e: Effect): string => (e.difference.low === null || e.difference.high === null ? '' : `(${points(e.difference.low).replace(' pts', '')} to ${points(e.difference.high)})`);

function EffectLine({ e, found }: { e: Effect; found?: string }) {
  return <p class="effectline"><strong><Sides e={e} /></strong> <Whiskers {...e.difference} most={most([e])} found={found} /> <Delta {...e.difference} found={found} /> <span class="muted num">{range(e)}</span></p>;
}

function Costs({ c }: { c: Comparison }) {
  const rows: [string, Effect | null, (v: number) => string][] = [['Cost per case', c.cost, dollars], ['Tokens per case', c.tokens, (v) => count(Math.round(v))], ['Latency', c.latency_ms, duration]];
  const known = rows.filter(([, e]) => e && e.base.value !== null && e.head.value !== null);
  if (!known.length) return null;
  return <dl class="factlist">{known.map(([name, e, text]) => <div key={name}><dt>{name}</dt><dd class="num">{text(e!.base.value!)} → {text(e!.head.value!)}{holdsZero(e!) && <span class="muted"> within noise</span>}</dd></div>)}</dl>;
}

const holdsZero = (e: Effect): boolean => e.difference.low === null || e.difference.high === null || (e.difference.low <= 0 && e.difference.high >= 0);

const listed = 50;

// Assertions lists the deciding assertions first, then those with the largest drop.
function Assertions({ list, found }: { list: AssertionEffect[]; found: Map<string, string> }) {
  const { query } = usePlace();
  const all = query.get('assertions') === 'all';
  const sorted = [...list].sort((a, b) => Number(found.has(b.assertion)) - Number(found.has(a.assertion)) || (a.difference.value ?? 2) - (b.difference.value ?? 2));
  const scale = most(list);
  const cols: Col<AssertionEffect>[] = [
    { label: 'Assertion', wide: true, cell: (a) => <><button type="button" class="link" title="Show the cases in which it changed" onClick={() => change({ a: a.assertion, page: '', open: '' })}>{plain(shorten(a.assertion, 120))}</button>{a.judged && <span class="sub muted">judged</span>}</> },
    { label: 'Base → head', cell: (a) => <Sides e={a} /> },
    { label: 'Difference', cell: (a) => <span class="diffcell"><Whiskers {...a.difference} most={scale} found={found.get(a.assertion)} /><Delta {...a.difference} found={found.get(a.assertion)} /></span> },
    { label: '95 % interval', cell: (a) => <span class="num muted nowrap">{range(a)}</span> },
    { label: 'Broke', num: true, cell: (a) => count(a.broke) },
    { label: 'Fixed', num: true, cell: (a) => count(a.fixed) },
    { label: 'Pairs', num: true, cell: (a) => <>{count(a.pairs)}{a.left_out > 0 && <span class="sub muted">{count(a.left_out)} left out</span>}</> },
    { label: 'Adjusted p', num: true, cell: (a) => (a.p_adjusted === null ? '–' : a.p_adjusted < 0.001 ? '< .001' : a.p_adjusted.toFixed(3).replace(/^0/, '')) },
  ];
  if (!list.length) return null;
  return (
    <section aria-labelledby="by-assertion">
      <h2 id="by-assertion">Assertions</h2>
      <Table caption="Assertions, worst first" cols={cols} rows={all ? sorted.slice(0, 500) : sorted.slice(0, listed)} id={(a) => a.assertion} />
      {list.some((a) => found.has(a.assertion)) && <p class="muted">The gate tests for a drop only, so it can find one whose 95 % interval contains 0. The interval and the adjusted p of this table look for a change in either direction, and decide nothing.</p>}
      {!all && list.length > listed && <p><button type="button" onClick={() => change({ assertions: 'all' })}>Show {list.length > 500 ? '500' : 'all'} of {count(list.length)} assertions</button></p>}
    </section>
  );
}
