// The result of a run, for people.
import { goesOn, type Run } from '../api';
import { count } from '../number';
import { StatusMark } from '../parts/status';
import { plain } from '../text';
import { address } from '../url';

export const active = (r: Run): boolean => goesOn(r.status);

// cutOff reports whether a run has ended without all of its rows.
export const cutOff = (r: Run): boolean => !active(r) && r.progress.rows > 0 && r.progress.finished < r.progress.rows;

export const runName = (r: Run): string => r.id + (r.version && r.version !== '1' ? ' · version ' + r.version.slice(0, 12) : '');

// spent returns the duration of a run in milliseconds, null if unknown. The time at which a
// run was pushed says nothing about its duration.
export function spent(r: Run): number | null {
  if (!r.started_at || !r.ended_at || r.pushed) return null;
  return Math.max(0, Date.parse(r.ended_at) - Date.parse(r.started_at));
}

// RunVerdict is the result of a run with links to the rows that need attention.
export function RunVerdict({ run }: { run: Run }) {
  const { rows, finished, failed, errors, passed } = run.progress;
  const to = (status: string) => address('/runs/' + encodeURIComponent(run.id), { status });
  const parts = [];
  if (active(run)) parts.push(<span class="status going"><span aria-hidden="true">… </span>{run.status === 'queued' ? 'Queued' : run.status === 'waiting' ? 'Waits for a worker' : count(finished) + (rows ? ' of ' + count(rows) : ' results')}</span>);
  const cut = run.status === 'done' && cutOff(run);
  if (cut) parts.push(<StatusMark status="error" word={'Cut off, ' + count(finished) + ' of ' + count(rows) + ' results'} />);
  if (run.status === 'failed') parts.push(<StatusMark status="error" word="Did not finish" />);
  if (run.status === 'cancelled') parts.push(<StatusMark status="skip" word="Cancelled" />);
  if (failed) parts.push(<a href={to('fail')}><StatusMark status="fail" word={count(failed) + ' failed'} /></a>);
  if (errors) parts.push(<a href={to('error')}><StatusMark status="error" word={errors === 1 ? '1 error' : count(errors) + ' errors'} /></a>);
  if (run.status === 'done' && !cut && !failed && !errors) parts.push(passed ? <StatusMark status="pass" word="All passed" /> : <StatusMark status="skip" word={run.progress.skipped ? 'All skipped' : 'No results'} />);
  return <span class="outcome" title={plain(run.waits ?? run.error ?? '') || undefined}>{parts}</span>;
}
