// The verdicts, in the order of the assertions, as they arrive.
import { useState } from 'preact/hooks';
import type { Decision, DetailAssertion, Evidence, Settings, Status } from '../api';
import { get, useLoad } from '../load';
import { count, duration, plural } from '../number';
import { quotesOf } from '../panel/evidence';
import { Pager, pageFrom } from '../panel/pager';
import { Failed } from '../parts/states';
import { StatusMark } from '../parts/status';
import { Card } from '../run/assertion';
import type { Strong } from '../run/output';
import { plain, shorten } from '../text';
import { change } from '../url';
import type { Play } from './play';
import type { Props } from './prompt';
import type { Verdict } from './judging';

const shown = 30, quotes = 20;

// strongs has the quote that was clicked last.
const strongs = new WeakMap<Play, Strong>();
export const strong = (state: Play): Strong => strongs.get(state) ?? nowhere;
const nowhere: Strong = { start: -1, turn: 0 };

function detail(d: Decision, instruction: unknown, output: string): DetailAssertion {
  const status = (s: string): Status => (s === 'pass' || s === 'fail' || s === 'skip' ? s : 'error');
  const evidence: Evidence[] = quotesOf(d as Parameters<typeof quotesOf>[0], output, quotes).quotes.map((q) => (q.start < 0 ? { quote: q.text } : { quote: q.text, start: q.start, end: q.end }));
  return {
    name: d.id, type: d.id, status: status(d.status), reason: d.reasoning, evidence, ...(typeof instruction === 'string' && instruction ? { asks: instruction } : {}),
    ...(d.criteria ? { criteria: d.criteria.map((c) => ({ text: c.criterion, status: status(c.status), why: c.reasoning })) } : {}),
    ...(d.judge ? { judge: d.judge } : {}), ...(d.cost ? { cost: d.cost } : {}), ...(d.cached ? { cached: true } : {}),
    ...(d.score !== undefined && d.score > 0 && d.score < 1 ? { score: String(Math.round(100 * d.score) / 100) } : {}),
  };
}

// evidenceOf returns the quotes of all verdicts on the shown output.
export function evidenceOf(state: Play): Evidence[] {
  return state.wanted().flatMap((w) => {
    const v = state.judging.verdicts.get(w.key);
    return v ? detail(v.decision, '', state.draft.output).evidence ?? [] : [];
  }).slice(0, 500);
}

type Row = { key: number; id: string; state: 'now' | 'judging' | 'old' | 'none' | 'refused'; verdict?: Verdict; asks: unknown; why?: string };

// rows returns the state of each assertion. A verdict on earlier wording stays until the
// next one arrives.
function rows(state: Play): Row[] {
  const wanted = new Map(state.wanted().map((w) => [w.item.key, w]));
  return state.edit.items.flatMap((item): Row[] => {
    const w = wanted.get(item.key), { verdicts, refused } = state.judging;
    if (!w) return [];
    const now = verdicts.get(w.key), row = { key: item.key, id: String(item.value.id), asks: item.value.instruction };
    if (now) {
      state.shown.set(item.key, w.key);
      return [{ ...row, state: 'now', verdict: now }];
    }
    const before = verdicts.get(state.shown.get(item.key) ?? ''), old = before ? { verdict: before } : {};
    if (refused.has(w.key)) return [{ ...row, ...old, state: 'refused', why: refused.get(w.key)! }];
    return [{ ...row, ...old, state: state.judging.going(w.key) ? 'judging' : before ? 'old' : 'none' }];
  });
}

export function Verdicts({ state }: Props) {
  const { draft: d, judging } = state, [page, turn] = useState(0);
  const all = rows(state), from = pageFrom(all.length, page, shown);
  const n = (s: Row['state']) => all.filter((r) => r.state === s).length, by = (s: Status) => all.filter((r) => r.state === 'now' && r.verdict?.decision.status === s).length;
  const undecided = all.filter((r) => r.state === 'now' && r.verdict?.decision.status === 'error'), open = n('none') + n('old');
  const again = () => { judging.again(state.wanted().map((w) => w.key).filter((k) => judging.verdicts.get(k)?.decision.status === 'error')); state.judge(); };
  const mark = (e: Evidence) => { strongs.set(state, { start: e.start!, turn: strong(state).turn + 1 }); state.changed(); };
  return (
    <section aria-labelledby="verdicts">
      <h2 id="verdicts">Verdicts</h2>
      <div class="filterrow">
        <button type="button" disabled={!d.output || !open} onClick={() => state.judge()}>Judge{open > 0 && d.output ? ' ' + count(open) : ''}</button>
        {judging.busy && <button type="button" onClick={() => judging.cancel()}>Cancel</button>}
        {undecided.length > 0 && <button type="button" onClick={again}>Judge {plural(undecided.length, 'error')} again</button>}
        <label class="tick"><input type="checkbox" checked={state.auto} onChange={(e) => change({ auto: e.currentTarget.checked ? '' : 'off' }, true)} /> Judge after each change</label>
      </div>
      <p role="status" class="num">{all.length === 0 ? 'There are no assertions yet.' : !d.output ? `There is no answer yet to judge by ${plural(all.length, 'assertion')}.` : said(all.length, by, n('judging'), n('refused'), open)}</p>
      {judging.problem && <Failed problem={judging.problem} retry={() => { judging.problem = undefined; state.judge(); }} />}
      {all.slice(from, from + shown).map((r) => <One key={r.key} row={r} state={state} mark={mark} />)}
      <Pager of={all.length} from={from} size={shown} turn={turn} />
      <Times state={state} />
    </section>
  );
}

function said(all: number, by: (s: Status) => number, going: number, refused: number, open: number): string {
  const parts = [`${count(by('pass'))} of ${count(all)} passed`];
  const add = (n: number, what: string) => { if (n) parts.push(count(n) + ' ' + what); };
  add(by('fail'), 'failed'); add(by('error'), by('error') === 1 ? 'error' : 'errors'); add(by('skip'), 'skipped');
  add(refused, 'cannot be judged'); add(going, 'being judged'); add(open, 'not judged');
  return parts.join(' · ') + '.';
}

const notes: Record<Row['state'], string> = { now: '', judging: 'Being judged…', old: 'Not judged since the change.', none: 'Not judged yet.', refused: '' };

function One({ row: r, state, mark }: { row: Row; state: Play; mark: (e: Evidence) => void }) {
  const [opened, open] = useState(false);
  const d = r.verdict && detail(r.verdict.decision, r.asks, state.draft.output), loud = d && (d.status === 'fail' || d.status === 'error');
  const earlier = r.state !== 'now' && d;
  return (
    <div class={'verdict-of ' + r.state}>
      {!d && r.state !== 'refused' && <p><strong>{plain(shorten(r.id, 200))}</strong> <span class="muted">{notes[r.state]}</span></p>}
      {r.state === 'refused' && <p class="problem"><strong>{plain(shorten(r.id, 200))}</strong> cannot be judged: {plain(shorten(r.why ?? '', 500))}</p>}
      {earlier && <p class="muted">{notes[r.state]} This is the verdict on the earlier text:</p>}
      {d && (loud || opened ? <Card of={{ head: d, parts: [] }} mark={mark} /> : null)}
      <p class="line">
        {d && !loud && <button type="button" class="plain" aria-expanded={opened} onClick={() => open(!opened)}>{opened ? 'Less' : <StatusMark status={d.status} of={shorten(d.name, 120)} />}</button>}
        {d && r.state === 'now' && state.judging.evaluation !== r.verdict!.evaluation && <span class="muted as-of">as of {r.verdict!.at.toLocaleTimeString('en', { hour12: false })}, on this answer</span>}
      </p>
    </div>
  );
}

// Times shows the time from a change to the verdicts, here and on the server.
function Times({ state }: Props) {
  const { last, times } = state.judging, settings = useLoad((signal) => get<Settings>('/v1/settings', signal), [state.ended]);
  const server = settings.data?.evaluations, sorted = [...times].sort((a, b) => a - b);
  if (!last && !server?.count) return null;
  return (
    <p class="muted num times">
      {last && <>From the change to the verdicts: {duration(last.ms)}, {last.asked === last.of ? plural(last.of, 'assertion') : `${count(last.asked)} of ${plural(last.of, 'assertion')}`}. {times.length > 1 && <>Median of {count(times.length)} here: {duration(sorted[Math.ceil(times.length / 2) - 1]!)}. </>}</>}
      {server && server.count > 0 && <>All evaluations of this project: median {duration(server.p50_ms ?? 0)}, 95 % within {duration(server.p95_ms ?? 0)} (n = {count(server.count)}).</>}
    </p>
  );
}
