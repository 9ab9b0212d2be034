// The assertions of a row: in full if they need attention, otherwise by name.
import { useContext, useState } from 'preact/hooks';
import type { DetailAssertion, Evidence, Status } from '../api';
import { count, dollars, plural } from '../number';
import { StatusMark } from '../parts/status';
import { Text, plain, shorten } from '../text';
import { Labelled } from './labelled';

// Group is an assertion with its parts, if it is a set.
export interface Group { head: DetailAssertion; parts: DetailAssertion[] }

const urgency: Record<Status, number> = { fail: 0, error: 1, pass: 2, skip: 3 };

// groups puts failed assertions first, and the most informative ones before others. It
// keeps the parts of sets with them.
export function groups(of: DetailAssertion[]): Group[] {
  const out: Group[] = [];
  for (const a of of) {
    if (a.level && out.length) out[out.length - 1]!.parts.push(a);
    else out.push({ head: a, parts: [] });
  }
  const at = ({ head }: Group) => 2 * urgency[head.status] + Number(urgency[head.status] < 2 && !head.evidence?.length && !head.criteria?.length);
  return out.sort((a, b) => at(a) - at(b));
}

const budget = 500;    // approximate elements of the assertions on a page
const mostParts = 50, mostCriteria = 50;

// weight returns the approximate number of elements of an assertion.
const weight = (a: DetailAssertion): number => 14 + 6 * Math.min(a.criteria?.length ?? 0, mostCriteria) + 4 * Math.min(a.evidence?.length ?? 0, 20) + 2 * Math.min(a.diff?.length ?? 0, 200);

const loud = (g: Group): boolean => urgency[g.head.status] < 2;

// pages returns the start of each page of assertions, so that none has too many elements.
export function pages(of: Group[]): number[] {
  const starts = [0];
  let taken = 0;
  of.forEach((g, i) => {
    const more = loud(g) ? weight(g.head) + shownParts(g).reduce((n, a) => n + weight(a), 0) : 7;
    if (taken > 0 && taken + more > budget) { starts.push(i); taken = 0; }
    taken += more;
  });
  return starts;
}

// shownParts returns the first parts of a set that fit on a page.
function shownParts(g: Group): DetailAssertion[] {
  let left = budget - weight(g.head);
  return g.parts.slice(0, mostParts).filter((a) => (left -= weight(a)) > 0);
}

export function Assertions({ of, first, mark }: { of: DetailAssertion[]; first: string; mark: (e: Evidence) => void }) {
  const [page, turn] = useState(0);
  const [opened, open] = useState(''), Labels = useContext(Labelled);
  const sorted = groups(of);
  // The filter's assertion comes first among those that need attention.
  if (first) sorted.sort((a, b) => Number(b.head.name === first && loud(b)) - Number(a.head.name === first && loud(a)));
  const starts = pages(sorted), from = starts[page] ?? 0, to = starts[page + 1] ?? sorted.length, shown = sorted.slice(from, to);
  const quiet = shown.filter((g) => !loud(g));
  return (
    <>
      {shown.filter(loud).map((g, i) => <Card key={from + i} of={g} mark={mark} />)}
      {quiet.length > 0 && (
        <ul class="quiet">
          {quiet.map((g, i) => {
            const key = from + i + g.head.name;
            return (
              <li key={key}>
                <button type="button" class="plain" aria-expanded={opened === key} onClick={() => open(opened === key ? '' : key)}>
                  <StatusMark status={g.head.status} of={shorten(g.head.name, 120)} />{scoreOf(g.head) && <span class="muted num"> {scoreOf(g.head)}</span>}{Labels && <Labels of={g.head} brief />}
                </button>
                {opened === key && <Card of={g} mark={mark} />}
              </li>
            );
          })}
        </ul>
      )}
      {starts.length > 1 && (
        <p class="pager">
          <button type="button" disabled={page === 0} onClick={() => turn(page - 1)}>Previous</button>
          <span class="num"> {count(from + 1)}–{count(to)} of {plural(sorted.length, 'assertion')} </span>
          <button type="button" disabled={page === starts.length - 1} onClick={() => turn(page + 1)}>Next</button>
        </p>
      )}
    </>
  );
}

export function Card({ of, mark }: { of: Group; mark: (e: Evidence) => void }) {
  const parts = shownParts(of), rest = of.parts.length - parts.length;
  return (
    <section class={'card ' + of.head.status} aria-label={of.head.name}>
      <One a={of.head} mark={mark} />
      {parts.map((a, i) => <div key={i} class="part"><One a={a} mark={mark} /></div>)}
      {rest > 0 && <p class="muted">and {plural(rest, 'more part')}</p>}
    </section>
  );
}

function One({ a, mark }: { a: DetailAssertion; mark: (e: Evidence) => void }) {
  const Labels = useContext(Labelled);
  return (
    <>
      <h3><StatusMark status={a.status} of={shorten(a.name, 200)} />{a.type !== a.name && <span class="muted kind">{a.type}</span>}<Score a={a} /></h3>
      {a.asks && <p class="asks"><Text of={shorten(a.asks, 2000)} /></p>}
      {a.criteria && a.criteria.length > 0 && (
        <ul class="criteria">
          {a.criteria.slice(0, mostCriteria).map((c, i) => (
            <li key={i}><StatusMark status={c.status} of="" /><span><Text of={c.text} />{c.why && <span class="muted"> — <Text of={c.why} /></span>}</span></li>
          ))}
        </ul>
      )}
      {a.reason && !told(a) && <p class="reason"><Text of={shorten(a.reason, 4000)} /></p>}
      {a.evidence && a.evidence.length > 0 && <Evidences of={a.evidence} mark={mark} />}
      {a.diff && a.diff.length > 0 ? <Diff a={a} /> : (
        a.value && a.value !== a.asks && <p class="pair"><span class="muted">{a.type.startsWith('not-') ? 'Not allowed' : 'Expected'} </span><Text of={shorten(a.value, 1000)} /></p>
      )}
      <Judged a={a} />
      {Labels && <Labels of={a} />}
    </>
  );
}

// told reports whether the criteria already contain the whole reason.
function told(a: DetailAssertion): boolean {
  let rest = a.reason;
  for (const c of a.criteria?.slice(0, 50) ?? []) if (c.why) rest = rest.replace(c.why, () => '');
  return /^[;\s]*$/.test(rest);
}

// scoreOf returns the score, unless it only repeats the verdict.
function scoreOf(a: DetailAssertion): string {
  return !a.threshold && a.score === (a.status === 'pass' ? '1' : '0') ? '' : a.score ?? '';
}

// Score shows the score beside its threshold. Thresholds of costs and times are not scores.
function Score({ a }: { a: DetailAssertion }) {
  const limit = Number(a.threshold) > 1;
  const score = limit ? '' : scoreOf(a), needs = a.threshold && !score.includes('needed') ? (limit ? 'limit ' : (score && ' · ') + 'needs ') + a.threshold : '';
  if (!score && !needs && (a.weight ?? 1) === 1) return null;
  return <span class="score num">{score}{needs}{a.weight !== undefined && a.weight !== 1 && ' · weight ' + a.weight}</span>;
}

function Evidences({ of, mark }: { of: Evidence[]; mark: (e: Evidence) => void }) {
  return (
    <ul class="evidence">
      {of.slice(0, 20).map((e, i) => (
        <li key={i}>
          {e.start === undefined
            ? <><Text of={'“' + shorten(e.quote, 300) + '”'} /> {e.note ? <span class="muted">{plain(e.note)}</span> : <span class="status error">! not in the output</span>}</>
            : <button type="button" class="link" onClick={() => mark(e)} title="Show in the output"><Text of={'“' + shorten(e.quote, 300) + '”'} /></button>}
        </li>
      ))}
      {of.length > 20 && <li class="muted">and {count(of.length - 20)} more quotes</li>}
    </ul>
  );
}

// Text that the output lacks is inserted, and text that it has instead is deleted, as in a
// report without its script.
const kinds = { expected: 'ins', actual: 'del' } as const;

function Diff({ a }: { a: DetailAssertion }) {
  return (
    <div class="diff">
      <p class="muted"><ins>expected</ins> <del>actual</del></p>
      <bdi class="text">
        {a.diff!.slice(0, 200).map((d, i) => {
          const Tag = d.kind === 'same' ? 'span' : kinds[d.kind];
          return <Tag key={i}><Text of={shorten(d.text, 2000)} /></Tag>;
        })}
      </bdi>
    </div>
  );
}

function Judged({ a }: { a: DetailAssertion }) {
  const parts: string[] = [];
  if (a.judge) parts.push('judge ' + a.judge);
  if (a.agreement) parts.push(a.agreement);
  if (a.cost) parts.push(dollars(a.cost));
  if (a.cached) parts.push('cached');
  return parts.length ? <p class="muted judged"><Text of={parts.join(' · ')} /></p> : null;
}
