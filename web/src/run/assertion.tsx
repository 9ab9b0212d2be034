// The assertions of a row: those that need attention in full, the others by name.
import { useState } from 'preact/hooks';
import type { DetailAssertion, Evidence, Status } from '../api';
import { count, dollars, plural } from '../number';
import { StatusMark } from '../parts/status';
import { Text, plain, shorten } from '../text';

// Group is an assertion with the parts of it, if it is a set.
export interface Group { head: DetailAssertion; parts: DetailAssertion[] }

const urgency: Record<Status, number> = { fail: 0, error: 1, pass: 2, skip: 3 };

// groups puts assertions that failed first, those that say most before others, and keeps
// the parts of sets with them.
export function groups(of: DetailAssertion[]): Group[] {
  const out: Group[] = [];
  for (const a of of) {
    if (a.level && out.length) out[out.length - 1]!.parts.push(a);
    else out.push({ head: a, parts: [] });
  }
  const at = ({ head }: Group) => 2 * urgency[head.status] + Number(urgency[head.status] < 2 && !head.evidence?.length && !head.criteria?.length);
  return out.sort((a, b) => at(a) - at(b));
}

const most = 60; // assertions shown at first, and quiet ones by name

export function Assertions({ of, first, mark }: { of: DetailAssertion[]; first: string; mark: (e: Evidence) => void }) {
  const [all, showAll] = useState(false);
  const [opened, open] = useState<ReadonlySet<string>>(new Set());
  const sorted = groups(of);
  // The assertion that people came for stands first among those that need attention.
  if (first) sorted.sort((a, b) => Number(b.head.name === first && urgency[b.head.status] < 2) - Number(a.head.name === first && urgency[a.head.status] < 2));
  const loud = sorted.filter((g) => urgency[g.head.status] < 2), quiet = sorted.filter((g) => urgency[g.head.status] >= 2);
  const limit = all ? 400 : Math.min(most, 12 + loud.length);
  const toggle = (key: string) => { const s = new Set(opened); if (!s.delete(key)) s.add(key); open(s); };
  return (
    <>
      {loud.slice(0, all ? 400 : 12).map((g, i) => <Card key={i} of={g} mark={mark} />)}
      {quiet.length > 0 && (
        <ul class="quiet">
          {quiet.slice(0, limit).map((g, i) => {
            const key = i + g.head.name;
            return (
              <li key={key}>
                <button type="button" class="plain" aria-expanded={opened.has(key)} onClick={() => toggle(key)}>
                  <StatusMark status={g.head.status} word={shorten(g.head.name, 120)} />{scoreOf(g.head) && <span class="muted num"> {scoreOf(g.head)}</span>}
                </button>
                {opened.has(key) && <Card of={g} mark={mark} />}
              </li>
            );
          })}
        </ul>
      )}
      {!all && (loud.length > 12 || quiet.length > limit) && <button type="button" onClick={() => showAll(true)}>Show all {plural(sorted.length, 'assertion')}</button>}
      {all && sorted.length > 400 && <p class="muted">The first 400 of each kind are shown, of {count(sorted.length)}.</p>}
    </>
  );
}

function Card({ of, mark }: { of: Group; mark: (e: Evidence) => void }) {
  return (
    <section class={'card ' + of.head.status} aria-label={of.head.name}>
      <One a={of.head} mark={mark} />
      {of.parts.slice(0, 50).map((a, i) => <div key={i} class="part"><One a={a} mark={mark} /></div>)}
      {of.parts.length > 50 && <p class="muted">and {count(of.parts.length - 50)} more parts</p>}
    </section>
  );
}

function One({ a, mark }: { a: DetailAssertion; mark: (e: Evidence) => void }) {
  return (
    <>
      <h3><StatusMark status={a.status} word={shorten(a.name, 200)} />{a.type !== a.name && <span class="muted kind">{a.type}</span>}<Score a={a} /></h3>
      {a.asks && <p class="asks"><Text of={shorten(a.asks, 2000)} /></p>}
      {a.criteria && a.criteria.length > 0 && (
        <ul class="criteria">
          {a.criteria.slice(0, 50).map((c, i) => (
            <li key={i}><StatusMark status={c.status} word="" /><span class="hidden">{c.status}: </span><span><Text of={c.text} />{c.why && <span class="muted"> — <Text of={c.why} /></span>}</span></li>
          ))}
        </ul>
      )}
      {a.reason && <p class="reason"><Text of={shorten(a.reason, 4000)} /></p>}
      {a.evidence && a.evidence.length > 0 && <Evidences of={a.evidence} mark={mark} />}
      {a.diff && a.diff.length > 0 ? <Diff a={a} /> : (
        a.value && a.value !== a.asks && <p class="pair"><span class="muted">Expected </span><Text of={shorten(a.value, 1000)} /></p>
      )}
      <Judged a={a} />
    </>
  );
}

// scoreOf returns the score, unless it only repeats the verdict.
function scoreOf(a: DetailAssertion): string {
  return !a.threshold && a.score === (a.status === 'pass' ? '1' : '0') ? '' : a.score ?? '';
}

// Score shows the score beside the threshold it was compared with. Thresholds of costs
// and times are no scores.
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
            ? <><Text of={'“' + shorten(e.quote, 300) + '”'} /> {e.note ? <span class="muted">{plain(e.note)}</span> : <span class="status error">! quote not in the output</span>}</>
            : <button type="button" class="link" onClick={() => mark(e)} title="Show in the output"><Text of={'“' + shorten(e.quote, 300) + '”'} /></button>}
        </li>
      ))}
      {of.length > 20 && <li class="muted">and {count(of.length - 20)} more quotes</li>}
    </ul>
  );
}

const kinds = { expected: 'del', actual: 'ins' } as const;

function Diff({ a }: { a: DetailAssertion }) {
  return (
    <div class="diff">
      <p class="muted"><del>expected</del> <ins>actual</ins></p>
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
