// What a changed judge does better and worse than the base.
import { useState } from 'preact/hooks';
import type { Estimate, Flip, LeftOut, Trial, TrialHalf, TrialResult } from '../api';
import { count, dollars, hundredths, plural } from '../number';
import { StatusMark } from '../parts/status';
import { Text, plain, shorten } from '../text';
import { change, usePlace } from '../url';
import { kappaOf } from './alignment';
import { Delta, Whiskers, rateWithInterval } from './figures';
import { Table, type Col } from './table';

const findings = {
  better: ['pass', '✓', 'Better', 'The interval of the difference of kappa is above 0.'],
  worse: ['fail', '✕', 'Worse', 'The interval of the difference of kappa is below 0.'],
  unclear: ['error', '!', 'Inconclusive', 'The interval of the difference of kappa contains 0: the labels do not show that the judge agrees better, or worse, with people.'],
  unknown: ['error', '!', 'Not measured', 'This half needs at least ten good and ten bad labelled outputs that both judges decided.'],
} as const;

export function Result({ trial, result: r }: { trial: Trial; result: TrialResult }) {
  const [tone, sign, word, why] = findings[r.held_out.finding];
  return (
    <>
      <section class={'decision ' + tone} aria-labelledby="finding">
        <h2 id="finding"><span class={'status ' + tone}><span aria-hidden="true">{sign} </span>{word}</span> <span class="muted">on the held-out half</span></h2>
        <p>{why}</p>
        {r.held_out.after.errors > r.held_out.before.errors && <p>It decides fewer outputs: {count(r.held_out.after.errors)} errors, and {count(r.held_out.before.errors)} before.</p>}
      </section>
      {r.looks >= 3 && <p class="remark bad"><span class="status error"><span aria-hidden="true">! </span>Looked at {count(r.looks)} times.</span> Each look at the held-out half lets chance choose: of {count(r.looks)} changes that do nothing, one shows as better in about {Math.round(100 * (1 - 0.975 ** r.looks))} % of such series. Label other outputs before you trust this one.</p>}
      <Half title="Held-out half: decide on it" half={r.held_out} />
      <Half title="Half to work on" half={r.work} />
      <p class="muted">{plural(trial.total, 'labelled output')}, {dollars(trial.cost)}.{leftOut(r.left_out)} Before: {r.judge_before.map(plain).join(', ') || 'no judge named'}. After: {r.judge_after.map(plain).join(', ') || 'none'}. In parentheses: 95 % intervals, which count the outputs of a case together. Figures are of the labelled outputs, not of the whole run.</p>
      {r.failures.length > 0 && <section aria-labelledby="failures"><h2 id="failures">Errors of the judge</h2><ul>{r.failures.map((f) => <li key={f}><Text of={f} /></li>)}</ul></section>}
      <Flips trial={trial} list={r.flipped} />
    </>
  );
}

function leftOut(l: LeftOut): string {
  const parts = ([[l.ties, 'on which people tie'], [l.unsure, 'that everybody labelled “can’t tell”'], [l.other_text, 'where the assertion has another text'], [l.not_applied, 'to which it did not apply'], [l.beyond, 'beyond the limit']] as const)
    .filter(([n]) => n > 0).map(([n, what]) => count(n) + ' ' + what);
  return parts.length ? ' Left out: ' + parts.join(', ') + '.' : '';
}

interface Row { name: string; before: string; after: string; difference?: Estimate; share?: boolean }

const signed = (v: number): string => (v >= 0.005 ? '+' : '') + hundredths(v);

// Change shows a difference of kappa; a difference of shares is in percentage points.
function Change({ of: d, share }: { of: Estimate; share: boolean }) {
  if (d.value === null) return <span class="muted">–</span>;
  const noise = d.low === null || d.high === null || (d.low <= 0 && d.high >= 0);
  const range = d.low === null || d.high === null ? '' : share ? `(${signed(100 * d.low).replace(/\.\d+$/, '')} to ${signed(100 * d.high).replace(/\.\d+$/, '')})` : `(${signed(d.low)} to ${signed(d.high)})`;
  return (
    <span class="diffcell">
      <Whiskers {...d} most={1} />
      {share ? <Delta {...d} /> : <span class={'delta num ' + (noise ? 'muted' : d.value < 0 ? 'worse' : 'better')}>{!noise && <span aria-hidden="true">{d.value < 0 ? '▼ ' : '▲ '}</span>}{signed(d.value)}{noise && <small> within noise</small>}</span>}
      <span class="num muted nowrap">{range}</span>
    </span>
  );
}

const columns: Col<Row>[] = [
  { label: 'Measure', cell: (r) => r.name },
  { label: 'Before', cell: (r) => <span class="num nowrap">{r.before}</span> },
  { label: 'After', cell: (r) => <span class="num nowrap">{r.after}</span> },
  { label: 'Difference', cell: (r) => (r.difference ? <Change of={r.difference} share={!!r.share} /> : '') },
];

function Half({ title, half: h }: { title: string; half: TrialHalf }) {
  const rows: Row[] = [
    { name: 'Kappa', before: kappaOf(h.before.kappa), after: kappaOf(h.after.kappa), difference: h.difference.kappa },
    { name: 'Good outputs passed (TPR)', before: rateWithInterval(h.before.tpr), after: rateWithInterval(h.after.tpr), difference: h.difference.tpr, share: true },
    { name: 'Bad outputs caught (TNR)', before: rateWithInterval(h.before.tnr), after: rateWithInterval(h.after.tnr), difference: h.difference.tnr, share: true },
    { name: 'Errors', before: count(h.before.errors), after: count(h.after.errors) },
  ];
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <Table caption={title} cols={columns} rows={rows} id={(r) => r.name} />
      <p class="muted after">{plural(h.labels, 'label')} in {plural(h.cases, 'case')}; {count(h.pairs)} decided before and after.</p>
    </section>
  );
}

const step = 10;

// Flips lists the differing verdicts. It shows those of the held-out half only on demand: a
// person who has read them changes the judge to fit them, so they no longer hold anything
// out.
function Flips({ trial, list }: { trial: Trial; list: Flip[] }) {
  const { query } = usePlace();
  const all = query.get('flips') === 'all';
  const shown = list.filter((f) => all || !f.held_out), hidden = list.length - shown.length;
  const part = (agrees: boolean) => shown.filter((f) => f.agrees === agrees);
  return (
    <section aria-labelledby="flips">
      <h2 id="flips">Judged differently</h2>
      {!list.length && <p class="muted">No verdict changed.</p>}
      {hidden > 0 && <p class="muted">{plural(hidden, 'output')} of the held-out half {hidden === 1 ? 'is' : 'are'} not shown, so that you do not change the judge for them. <button type="button" class="link" onClick={() => change({ flips: 'all' })}>Show them</button></p>}
      <FlipList title="Disagree with people now" trial={trial} list={part(false)} />
      <FlipList title="Agree with people now" trial={trial} list={part(true)} />
    </section>
  );
}

function FlipList({ title, trial, list }: { title: string; trial: Trial; list: Flip[] }) {
  const [shown, show] = useState(step);
  if (!list.length) return null;
  return (
    <section aria-label={title}>
      <h3>{title}: {count(list.length)}</h3>
      <ul class="plainlist flips">
        {list.slice(0, shown).map((f) => (
          <li key={f.index}>
            <a href={'/runs/' + encodeURIComponent(trial.run) + '?case=' + encodeURIComponent(f.case) + '&status=all'}>{plain(shorten(f.case, 120))}</a> <span class="muted">row {count(f.index)}{f.held_out && ', held out'}; people:</span> <StatusMark status={f.label} />
            <dl class="inputs">
              <div><dt>Before <StatusMark status={f.before.status} /></dt><dd><Text of={f.before.reason} /></dd></div>
              <div><dt>After <StatusMark status={f.after.status} /></dt><dd><Text of={f.after.reason} /></dd></div>
            </dl>
          </li>
        ))}
      </ul>
      {list.length > shown && <p class="after"><button type="button" onClick={() => show(shown + 5 * step)}>Show {count(Math.min(5 * step, list.length - shown))} more of {count(list.length)}<span class="hidden">: {title}</span></button></p>}
    </section>
  );
}
