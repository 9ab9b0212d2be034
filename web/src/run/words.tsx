// Texts of the view: states of the run, and empty lists.
import { goesOn, type Run } from '../api';
import { count, plural } from '../number';
import { rateText } from '../parts/rate';
import { plain, shorten } from '../text';
import type { Model, Tally } from './model';
import type { State } from './state';

// totals returns the counts of the run. A report that does not contain every row says so,
// but its counts are those of the complete run.
export function totals(m: Model, run: Run): Tally {
  const p = run.progress, held = m.total.passed + m.total.failed + m.total.errors + m.total.skipped;
  if (p.passed + p.failed + p.errors + p.skipped <= held) return m.total;
  return { passed: p.passed, failed: p.failed, errors: p.errors, skipped: p.skipped, running: 0 };
}

export function Banner({ model: m, run, running }: { model: Model; run: Run; running: boolean }) {
  const { finished, rows, status } = m.matrix;
  const held = m.total.passed + m.total.failed + m.total.errors + m.total.skipped;
  const counted = run.progress.passed + run.progress.failed + run.progress.errors + run.progress.skipped;
  if (running) {
    return (
      <div class="banner going">
        <strong>{status === 'running' ? 'Running.' : 'Waiting to start.'}</strong> <span class="num">{count(finished)} of {count(rows)} results</span>
        <progress value={finished} max={Math.max(1, rows)} aria-label="Results so far" />
      </div>
    );
  }
  if (status === 'failed' || status === 'cancelled' || finished < rows) {
    const what = status === 'cancelled' ? 'This run was cancelled.' : status === 'failed' ? 'This run failed.' : 'This run did not finish.';
    return <div class="banner problem" role="note"><strong>{what}</strong> {run.error && plain(shorten(run.error, 500))} It has {count(finished)} of {plural(rows, 'result')}. The page shows these results.</div>;
  }
  if (counted > held) return <div class="banner problem" role="note">This page holds {count(held)} of {plural(counted, 'result')}. The counts are those of the whole run; filters and the matrix show what the page holds.</div>;
  return null;
}

// Passed shows that nothing failed, which is a result.
export function Passed({ total, model: m, running }: { total: Tally; model: Model; running: boolean }) {
  const n = total.passed + total.skipped;
  if (running || n === 0 || total.failed + total.errors + total.running > 0) return null;
  if (total.passed === 0) return <p class="all">– All {plural(n, 'result')} were skipped.</p>;
  if (m.matrix.finished < m.matrix.rows) return <p class="all">No result failed before the run ended. {rateText(total)}</p>;
  if (m.matrix.assertions.length === 0) return <p class="all">The suite has no assertions: every output passes.</p>;
  const skipped = total.skipped ? `; ${count(total.skipped)} skipped` : '';
  return <p class="all"><strong class="status pass">✓ All passed.</strong> {rateText(total)}{skipped}, in {plural(m.cases, 'case')}{m.columns > 1 && ` and ${m.columns} columns`}.</p>;
}

const does: Record<string, string> = { fail: 'fails', error: 'has an error', pass: 'passes', skip: 'is skipped', differ: 'differs between columns', broke: 'broke since the base run', all: 'matches', '': 'matches' };
const doesTo: Record<string, string> = { fail: 'fails', error: 'has an error in', pass: 'passes', skip: 'skips', differ: 'differs between columns and has', broke: 'broke since the base run and has', all: 'has', '': 'fails' };

// emptyText explains why no case is listed.
export function emptyText(m: Model, s: State, text: string): string {
  if (m.cases === 0) return goesOn(m.matrix.status) ? 'There are no results yet.' : 'This run has no cases.';
  const contains = text ? `contains “${plain(shorten(text, 80))}”` : '';
  if (contains && !s.assertion && s.column < 0 && (s.status === '' || s.status === 'all')) return `No case ${contains}.`;
  const what = s.assertion ? `${doesTo[s.status]} “${plain(shorten(s.assertion, 80))}”` : does[s.status];
  const column = s.column >= 0 ? ` in column ${s.column + 1}` : '';
  return `No case ${what}${column}${contains && ' and ' + contains}.`;
}
