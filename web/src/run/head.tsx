// The counts of a run, above its matrix. Every count is a filter.
import { useEffect, useRef, useState } from 'preact/hooks';
import { count, percent, plural } from '../number';
import { Bar, asked, decided, interval, rateText } from '../parts/rate';
import { glyphs } from '../parts/status';
import { plain, shorten } from '../text';
import { change } from '../url';
import type { AssertionRow, Model, StatusFilter, Tally } from './model';
import type { State } from './state';

// Headline is the run's pass rate with its interval and counts.
export function Headline({ total }: { total: Tally }) {
  const n = asked(total), { low, high } = interval(total);
  if (n === 0) return null;
  if (decided(total) === 0) return <p class="headline num"><strong class="status error"><span aria-hidden="true">! </span>{plural(total.errors, 'error')}</strong> of {plural(n, 'result')}, so there is no pass rate</p>;
  return (
    <p class="headline num">
      <strong>{percent(total.passed / n)}</strong> passed <span class="muted">95 % interval {Math.floor(100 * low)}–{Math.ceil(100 * high)} %, n = {count(n)}</span>
      <span class="rate"><Bar counts={total} /></span>
    </p>
  );
}

// Counts are the filters by status. The first also names what is counted.
export function Counts({ model: m, total, state, broke }: { model: Model; total: Tally; state: State; broke: number }) {
  const unit = 'result';
  const all = total.passed + total.failed + total.errors + total.skipped;
  const entries: [StatusFilter, string, string, number, string][] = [
    ['fail', glyphs.fail, 'Failed', total.failed, ''], ['error', glyphs.error, 'Errors', total.errors, ''],
    ['pass', glyphs.pass, 'Passed', total.passed, ''], ['skip', glyphs.skip, 'Skipped', total.skipped, ''],
  ];
  if (m.columns > 1) entries.push(['differ', '≠', 'Columns differ', m.differing, 'case']);
  if (broke) entries.push(['broke', '↓', 'Broke', broke, 'case']);
  return (
    <div class="counts" role="group" aria-label={`Filter by status. ${rateText(total)}`}>
      <button type="button" aria-pressed={(state.status === '' && !state.assertion) || state.status === 'all'} onClick={() => change({ status: state.assertion ? 'all' : '' })}>All <span class="num">{count(all)}</span><span class="unit"> {unit}{all !== 1 && 's'}</span></button>
      {entries.filter((e) => e[3] > 0 || state.status === e[0]).map(([key, sign, name, n, of]) => (
        <button type="button" key={key} class={key} aria-pressed={state.status === key} onClick={() => change({ status: state.status === key ? '' : key })}>
          <span class={'status ' + key} aria-hidden="true">{sign}</span> {name} <span class="num">{count(n)}</span>{of && <span class="unit"> {of}{n !== 1 && 's'}</span>}
        </button>
      ))}
    </div>
  );
}

const most = 12, limit = 200;

// AssertionStrip lists the assertions, worst first.
export function AssertionStrip({ rows, more, state, brief }: { rows: AssertionRow[]; more: number; state: State; brief: boolean }) {
  const [all, showAll] = useState(false);
  const first = brief ? 5 : most;
  const shown = all ? limit : first;
  let listed = rows.slice(0, shown);
  const chosen = rows.find((r) => r.name === state.assertion);
  if (chosen && !listed.includes(chosen)) listed = [...listed.slice(0, shown - 1), chosen];
  if (rows.length === 0) return <p class="muted">This run has no assertions. An output counts as passed unless its provider failed.</p>;
  return (
    <div class="strip">
      <table>
        <caption class="hidden">Assertions, worst first. An error lowers the pass rate, but is not a fail.</caption>
        <thead><tr><th scope="col">Assertion</th><th scope="col">Pass rate</th><td /><th scope="col" class="wide">95 % interval</th><th scope="col">Failed</th><th scope="col">Errors</th><th scope="col" class="wide">Passed</th></tr></thead>
        <tbody>
          {listed.map((a) => {
            const n = asked(a.tally), known = decided(a.tally) > 0, { low, high } = interval(a.tally), pressed = state.assertion === a.name;
            return (
              <tr key={a.at} class={pressed ? 'pressed' : ''}>
                <th scope="row"><button type="button" class="plain" aria-pressed={pressed} title={plain(a.type + ': ' + a.name)} onClick={() => change({ a: pressed ? '' : a.name, status: '' })}>{plain(shorten(a.name, 90))}</button></th>
                <td class="num">{known ? percent(a.tally.passed / n) : '–'}</td>
                <td class="rate"><Bar counts={a.tally} /></td>
                <td class="num muted wide">{known ? `${Math.floor(100 * low)}–${Math.ceil(100 * high)} %` : ''}</td>
                <td class={a.tally.failed ? 'num status fail' : 'num muted'}>{count(a.tally.failed)}</td>
                <td class={a.tally.errors ? 'num status error' : 'num muted'}>{count(a.tally.errors)}</td>
                <td class="num muted wide">{count(a.tally.passed)} of {count(n)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {rows.length > first && <button type="button" class="link" aria-expanded={all} onClick={() => showAll(!all)}>{all ? 'Show fewer' : `Show all ${count(rows.length)} assertions`}</button>}
      {all && rows.length > limit && <span class="muted"> The worst {limit} are shown.</span>}
      {more > 0 && <p class="muted">{count(more)} more assertions are not listed here. Open a case to see their verdicts.</p>}
    </div>
  );
}

// SearchField keeps the input, and updates the address after a pause in typing.
export function SearchField({ text, type }: { text: string; type: (text: string) => void }) {
  const timer = useRef(0);
  useEffect(() => {
    if (!text) clearTimeout(timer.current); // filters were cleared
  }, [text]);
  const typed = (value: string) => {
    type(value);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => change({ q: value }, true), 250) as unknown as number;
  };
  return <input type="search" aria-label="Search cases" placeholder="Search cases and texts" value={text} onInput={(e) => typed(e.currentTarget.value)} maxLength={200} />;
}

// Said announces what is shown to assistive technology, at most once per period.
export function Said({ text, period }: { text: string; period: number }) {
  const [said, say] = useState(text), last = useRef(0);
  useEffect(() => {
    const wait = Math.max(0, last.current + period - Date.now());
    const timer = setTimeout(() => { last.current = Date.now(); say(text); }, wait);
    return () => clearTimeout(timer);
  }, [text, period]);
  return <p role="status" class="matches num">{said}</p>;
}
