// How a judge agrees with people.
import type { Alignment, Estimate } from '../api';
import { count, plural, wilson, when, hundredths } from '../number';
import { plain } from '../text';
import { address } from '../url';
import { rateWithInterval } from './figures';

const weak = 0.6; // kappa below this is weak, as in proviso align

const share = (hits: number, n: number): string => rateWithInterval({ value: n ? hits / n : null, ...wilson(hits, n) });

export const kappaOf = (e: Estimate): string => (e.value === null ? '–' : hundredths(e.value) + (e.low === null || e.high === null ? '' : ` (${hundredths(e.low)} to ${hundredths(e.high)})`));

export const isWeak = (m: Alignment): boolean => m.kappa.value === null || m.kappa.value < weak || (m.kappa.low !== null && m.kappa.low <= 0);

// benchAddress is the address of a judge's workbench, for the labels on a run.
export const benchAddress = (judge: string, run: string, assertion = ''): string => address('/judges/' + encodeURIComponent(judge) + '/workbench', { run, assertion });

export function Strength({ m }: { m: Alignment }) {
  return isWeak(m) ? <span class="status error"><span aria-hidden="true">! </span>Weak judge</span> : <span class="status pass"><span aria-hidden="true">✓ </span>Validated</span>;
}

// AlignmentLine is the agreement in one line.
export function AlignmentLine({ m }: { m: Alignment }) {
  return <span class="num"><Strength m={m} /> agreement {rateWithInterval(m.agreement)}, kappa {kappaOf(m.kappa)}, on {plural(m.labels, 'label')}</span>;
}

// AlignmentCard shows the figures and the underlying table of counts.
export function AlignmentCard({ m }: { m: Alignment }) {
  const good = m.true_pass + m.false_fail, bad = m.true_fail + m.false_pass;
  const name = m.criterion || 'All criteria';
  return (
    <article class="tile">
      <h3>{plain(name)} <Strength m={m} /></h3>
      <dl class="factlist">
        <div><dt>Agreement</dt><dd class="num">{rateWithInterval(m.agreement)}</dd></div>
        <div><dt>Kappa</dt><dd class="num">{kappaOf(m.kappa)}</dd></div>
        <div><dt>Good outputs passed (TPR)</dt><dd class="num">{share(m.true_pass, good)}</dd></div>
        <div><dt>Bad outputs caught (TNR)</dt><dd class="num">{share(m.true_fail, bad)}</dd></div>
      </dl>
      <table class="confusion">
        <caption class="hidden">Verdicts of the judge and of people, {plain(name)}</caption>
        <thead><tr><td /><th scope="col">Judge: pass</th><th scope="col">Judge: fail</th></tr></thead>
        <tbody>
          <tr><th scope="row">People: pass</th><td class="agree num">{count(m.true_pass)}</td><td class="num">{count(m.false_fail)}</td></tr>
          <tr><th scope="row">People: fail</th><td class="num">{count(m.false_pass)}</td><td class="agree num">{count(m.true_fail)}</td></tr>
        </tbody>
      </table>
      <p class="muted">{plural(m.labels, 'label')}{m.undecided ? ', ' + plural(m.undecided, 'error') + ' of the judge' : ''}{m.measured_at ? ', measured ' + when(m.measured_at) : ''}. In parentheses: 95 % interval.{m.from === 'labels' && ' Labels of this server, as they are: items that were chosen because the judge was unsure make it look worse than it is. proviso align corrects for that.'}</p>
    </article>
  );
}
