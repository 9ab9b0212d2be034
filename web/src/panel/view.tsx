// The panel's view: counts, rows that need attention, and the others on request.
import type { Label } from '../../panel/panel';
import type { Draft, Row, State } from './state';
import { count, plural } from '../number';
import { plain, shorten } from '../text';
import { Pager, pageFrom } from './pager';
import { RowView } from './row';

// Actions are the panel's actions beyond its own state.
export interface Actions {
  output: string | null;
  evidence(row: Row, start: number, end: number): void;
  save(row: Row, draft: Draft, label: Label | null): void; // null deletes the label
  retry(): void; // reconnects
}

const rowsShown = 50;

export function View({ state, actions }: { state: State; actions: Actions }) {
  const { rows, phase } = state;
  const urgent = rows.filter((r) => r.status === 'fail' || r.status === 'error'), calm = rows.filter((r) => r.status === 'pass' || r.status === 'skip');
  const waiting = rows.filter((r) => r.status === 'running');
  const names = waiting.slice(0, 5).map((r) => plain(shorten(r.id, 60))).join(', ');
  return (
    <>
      <Head state={state} running={waiting.length} />
      {phase === 'stopped' && <div class="problem" role="alert"><p>{plain(state.problem)}</p><button onClick={actions.retry}>Try again</button></div>}
      {state.lost && <p class="problem">The connection to proviso is lost. The panel tries again.</p>}
      {state.unsorted && <p><button onClick={() => state.sort()}>Put failures first</button></p>}
      <List of={urgent} which={0} state={state} actions={actions} label="Fails and errors" />
      {waiting.length > 0 && <p class="muted">{phase === 'stopped' ? 'Without a verdict' : 'Being judged'}: {names}{waiting.length > 5 && ` and ${count(waiting.length - 5)} more`}</p>}
      {phase === 'ended' && urgent.length === 0 && <p>{!rows.length ? 'There are no assertions.' : state.count('pass') ? <b class="pass">✓ All passed.</b> : 'Nothing applied.'}</p>}
      {phase === 'idle' && <p class="muted">There are no results yet.</p>}
      {calm.length > 0 && (
        <>
          <button class="top" aria-expanded={state.passes} onClick={() => state.change({ passes: !state.passes })}>
            <span aria-hidden="true">{state.passes ? '▾' : '▸'}</span><span>{calmText(state)}</span>
          </button>
          {state.passes && <List of={calm} which={1} state={state} actions={actions} label="Passed or skipped" />}
        </>
      )}
    </>
  );
}

function calmText(state: State): string {
  const passed = state.count('pass'), skipped = state.count('skip');
  return [passed && count(passed) + ' passed', skipped && count(skipped) + ' skipped'].filter(Boolean).join(', ');
}

// summary describes the state of all assertions, also for screen readers.
export function summary(state: State): string {
  const n = (status: Row['status']) => state.count(status), total = state.rows.length - n('skip');
  const parts = total ? [`${count(n('pass'))} of ${count(total)} passed`] : [];
  if (n('fail')) parts.push(count(n('fail')) + ' failed');
  if (n('error')) parts.push(plural(n('error'), 'error'));
  if (n('skip')) parts.push(count(n('skip')) + ' skipped');
  if (n('running') && state.phase !== 'stopped') parts.push('judging ' + count(n('running')) + '…');
  if (state.phase === 'waiting') parts.push('waiting for verdicts…');
  return parts.join(' · ');
}

function Head({ state, running }: { state: State; running: number }) {
  const { threshold: needs, passed_threshold: met, score } = state.totals;
  const decided = state.phase === 'ended' && !running && typeof needs === 'number' && typeof met === 'boolean' && typeof score === 'number';
  return (
    <div class="head">
      <b>Verdicts</b>
      <span class="num">{summary(state)}</span>
      {decided && needs! < 1 && <span class="num"><b class={met ? 'pass' : 'fail'}>{met ? '✓ enough' : '✕ not enough'}</b> <span class="muted">{two(score!)} / needs {two(needs!)}</span></span>}
    </div>
  );
}

export const two = (n: number): string => String(Math.round(100 * n) / 100);

// List shows a part of a list, so that the page stays light for a list of any length.
function List({ of, which, state, actions, label }: { of: Row[]; which: 0 | 1; state: State; actions: Actions; label: string }) {
  const from = pageFrom(of.length, state.page[which]!, rowsShown);
  return of.length > 0 && (
    <>
      <ul aria-label={label} onKeyDown={move}>
        {of.slice(from, from + rowsShown).map((row) => <RowView key={row.key} row={row} state={state} actions={actions} />)}
      </ul>
      <Pager of={of.length} from={from} size={rowsShown} turn={(to) => state.change({ page: state.page.map((p, i) => (i === which ? to : p)) })} />
    </>
  );
}

// move moves between assertions with the arrow keys, in addition to Tab.
function move(e: KeyboardEvent): void {
  const step = ({ ArrowDown: 1, ArrowUp: -1 } as Record<string, number>)[e.key];
  const at = e.target as HTMLElement;
  if (!step || !at.matches('.top') || e.altKey || e.ctrlKey || e.metaKey) return;
  const all = [...(e.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('.top')];
  all[all.indexOf(at) + step]?.focus();
  e.preventDefault();
}
