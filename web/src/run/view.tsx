// The view of a run: its counts, its matrix, and the open case. The report and the app
// share it.
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
import { ERROR, FAIL, goesOn, type Run } from '../api';
import { count, plural } from '../number';
import { Data } from '../parts/states';
import type { RunSource } from '../source';
import { change } from '../url';
import { words32 } from './bytes';
import { Drawer, type Around } from './drawer';
import { AssertionStrip, Counts, Headline, Said, SearchField } from './head';
import { KeysDialog, KeysHint, typing, useKeys } from './keys';
import { CaseList } from './list';
import { useList, useLive } from './live';
import { Matrix, type Active } from './matrix';
import { casesOf, nextFailing, order, worstColumn, worstRepeat, type Filter, type Model } from './model';
import { columnNames } from './names';
import { Previews } from './previews';
import { clearFilters, close, open, placeOf, useRunState, type Place, type State } from './state';
import { Banner, Passed, emptyText, totals } from './words';

// Extra has what only some pages know about a run.
export interface Extra {
  broke?: ReadonlySet<string>;                // ids of cases that passed in the base run and fail now
  above?: ComponentChildren;                  // shown above the counts: a gate's decision
  banner?: boolean;                           // false if the page itself shows the progress of the run
  outputOf?: (index: number) => string;       // address of a row's complete output
  around?: Around;                            // surrounds the verdicts of a row
}

export function RunView({ source, extra = {} }: { source: RunSource; extra?: Extra }) {
  const { loaded, model } = useLive(source);
  return (
    <section class="run" aria-label="Results">
      {extra.above}
      <Data of={loaded} what="the results">{(data) => model && <Loaded source={source} extra={extra} model={model} run={data.run} />}</Data>
    </section>
  );
}

// useFound requests from the source the rows whose texts contain the search text.
function useFound(source: RunSource, m: Model, text: string): { found?: Uint8Array; note: string } {
  const [state, set] = useState<{ text: string; rows?: Uint32Array; note: string }>({ text: '', note: '' });
  useEffect(() => {
    const wanted = text.trim();
    if (wanted.length < 2) return;
    const abort = new AbortController();
    const timer = setTimeout(() => {
      source.search(wanted, abort.signal).then(
        (f) => { if (!abort.signal.aborted) set({ text, rows: words32(f.rows), note: f.more ? ` Only ${plural(f.searched, 'result')} were searched.` : '' }); },
        () => { if (!abort.signal.aborted) set({ text, note: ' Only names were searched: the texts could not be loaded.' }); },
      );
    }, 250);
    return () => { clearTimeout(timer); abort.abort(); };
  }, [source, text]);
  const rows = state.text === text && text ? state.rows : undefined;
  const found = useMemo(() => rows && casesOf(m, rows), [rows, m]);
  return found ? { found, note: state.note } : { note: state.text === text && text ? state.note : '' };
}

function useNarrow(): boolean {
  const [query] = useState(() => matchMedia('(max-width: 900px)'));
  const [narrow, set] = useState(query.matches);
  useEffect(() => {
    const changed = () => set(query.matches);
    query.addEventListener('change', changed);
    return () => query.removeEventListener('change', changed);
  }, []);
  return narrow;
}

// firstPlace returns the cell to open at first: in the first listed case, the worst cell,
// or one in which the assertion did not pass. If nothing failed, there is none.
function firstPlace(m: Model, list: Uint32Array, f: Filter): Place | undefined {
  if (m.total.failed + m.total.errors === 0) return undefined;
  const c = list[0] ?? order(m, true)[0]!, verdicts = m.verdicts[m.matrix.assertions.indexOf(f.assertion)];
  const fails = (j: number) => !!verdicts && Array.from({ length: m.repeats }, (_, k) => verdicts[(c * m.columns + j) * m.repeats + k]!).some((v) => v === FAIL || v === ERROR);
  const columns = Array.from({ length: m.columns }, (_, j) => j).filter(fails);
  const column = f.column >= 0 ? f.column : columns[0] ?? worstColumn(m, c);
  return { case: c, column, repeat: worstRepeat(m, c, column) };
}

function Loaded({ source, extra, model: m, run }: { source: RunSource; extra: Extra; model: Model; run: Run }) {
  const state = useRunState(), narrow = useNarrow();
  const [text, type] = useState(state.text);
  useEffect(() => type(state.text), [state.text]);
  const { found, note } = useFound(source, m, text);
  const running = goesOn(m.matrix.status);
  const [began] = useState(running);
  const worstFirst = state.sort === 'worst' || (state.sort === '' && !began);
  const wanted: Filter = { status: state.status, assertion: state.assertion, text, column: state.column < m.columns ? state.column : -1, ...(found ? { found } : {}), ...(extra.broke ? { broke: extra.broke } : {}) };
  const list = useList(m, wanted, worstFirst);
  const [, again] = useReducer((n: number) => n + 1, 0);
  const previews = useMemo(() => new Previews(source, () => again(undefined)), [source]);
  useEffect(() => () => previews.stop(), [previews]);
  const names = useMemo(() => columnNames(m.matrix.columns), [m.matrix]);

  // The worst case is open until another is chosen, or after a filter the first listed
  // case. Neither typing nor new results open another case.
  const first = useMemo(() => firstPlace(m, began ? order(m, true) : list, wanted), [state.status, state.assertion, state.column]);
  const chosen = placeOf(m, state);
  const place = chosen ?? (state.closed || state.chosen !== undefined ? undefined : first);
  const [active, activate] = useState<Active>({ case: place?.case ?? list[0] ?? 0, column: place?.column ?? 0 });
  useEffect(() => { if (active.case >= 0 && list.length && !list.includes(active.case)) activate({ case: list[0]!, column: active.column }); }, [list]);

  const root = useRef<HTMLDivElement>(null), [focus, setFocus] = useState(0);
  const [keysOn, setKeys] = useKeys(), [help, setHelp] = useState(false);
  const toGrid = () => requestAnimationFrame(() => root.current?.querySelector<HTMLElement>('[role=grid]')?.focus());
  const openCell = (c: number, column: number) => {
    const at = column >= 0 ? column : worstColumn(m, c);
    activate({ case: c, column: at });
    open(m, c, at);
    setFocus((n) => n + 1);
  };
  const shut = () => {
    if (place) activate({ case: place.case, column: place.column });
    close();
    toGrid();
  };
  const step = (by: 1 | -1) => {
    const from = place ?? active, at = list.indexOf(from.case);
    const next = nextFailing(m, list, at < 0 ? (by > 0 ? -1 : list.length) : at, at < 0 ? (by > 0 ? m.columns - 1 : 0) : from.column, by);
    if (!next) return;
    activate({ case: list[next[0]]!, column: next[1] });
    if (place) open(m, list[next[0]]!, next[1], chosen !== undefined);
  };
  const keyed = (e: KeyboardEvent) => {
    if (e.defaultPrevented) return;
    if (e.key === 'Escape' && place && !help) { shut(); e.preventDefault(); }
    if (!keysOn || typing(e.target) || e.ctrlKey || e.metaKey || e.altKey || help) return;
    if (e.key === 'j' || e.key === 'k') step(e.key === 'j' ? 1 : -1);
    else if (e.key === '?') setHelp(true);
    else if (e.key === '/') root.current?.querySelector<HTMLElement>('input[type=search]')?.focus();
    else return;
    e.preventDefault();
  };
  useLayoutEffect(() => {
    const el = root.current!;
    const fit = () => el.style.setProperty('--top', Math.min(320, Math.max(0, el.getBoundingClientRect().top + scrollY)) + 'px');
    fit();
    addEventListener('resize', fit);
    return () => removeEventListener('resize', fit);
  }, []);

  const total = totals(m, run), asList = state.list === 'list' || (state.list === '' && narrow && innerWidth <= 480);
  const broke = extra.broke ? extra.broke.size : 0;
  const empty = <p class="empty">{emptyText(m, state, text)} {m.cases > 0 && <button type="button" onClick={() => { type(''); clearFilters(); }}>Clear filters</button>}</p>;
  const drawer = place && (
    <Drawer source={source} model={m} names={names} place={place} previews={previews} assertion={state.assertion} focus={focus}
      why={chosen || running ? '' : (state.status || state.assertion) && place.case === list[0] ? 'The first case that matches is open.' : place.case === list[0] && worstFirst ? 'The worst case of this run is open.' : ''} go={(j, k) => { activate({ case: place.case, column: j }); open(m, place.case, j, false, k ?? -1); }}
      step={step} close={shut} {...(extra.outputOf ? { outputOf: extra.outputOf } : {})} {...(extra.around ? { around: extra.around } : {})} />
  );
  return (
    <div ref={root} onKeyDown={keyed} class={'workspace' + (drawer ? ' with' : '') + (narrow && chosen ? ' full' : '')}>
      {extra.banner !== false && <Banner model={m} run={run} running={running} />}
      <Headline total={total} />
      <Counts model={m} total={total} state={state} broke={broke} />
      <div class="main">
        <div class="left">
          <Passed total={total} model={m} running={running} />
          <AssertionStrip rows={m.assertions} more={m.matrix.more_assertions} state={state} brief={!!drawer} />
          <Toolbar state={state} text={text} type={type} worstFirst={worstFirst} asList={asList} help={() => setHelp(true)} />
          <Said period={running ? 2000 : 150} text={matches(m, list, state, text) + note} />
          {asList ? (list.length ? <CaseList model={m} list={list} names={names} previews={previews} open={openCell} /> : empty) : (
            <Matrix model={m} list={list} names={names} previews={previews} active={active} activate={activate} {...(place ? { chosen: place } : {})}
              open={openCell} column={wanted.column} filterColumn={(j) => change({ col: j === wanted.column ? '' : String(j) })} empty={empty} />
          )}
          {!asList && keysOn && list.length > 0 && <KeysHint />}
        </div>
        {drawer}
      </div>
      <KeysDialog shown={help} hide={() => setHelp(false)} on={keysOn} set={setKeys} />
    </div>
  );
}

function matches(m: Model, list: Uint32Array, s: State, text: string): string {
  const filtered = s.status || s.assertion || text || s.column >= 0;
  return filtered ? `${count(list.length)} of ${plural(m.cases, 'case')} match.` : `${plural(m.cases, 'case')}.`;
}

function Toolbar({ state, text, type, worstFirst, asList, help }: { state: State; text: string; type: (t: string) => void; worstFirst: boolean; asList: boolean; help: () => void }) {
  return (
    <div class="tools">
      <SearchField text={text} type={type} />
      <select aria-label="Order of the cases" value={worstFirst ? 'worst' : 'suite'} onChange={(e) => change({ sort: e.currentTarget.value })}>
        <option value="worst">Worst first</option><option value="suite">As in the suite</option>
      </select>
      <button type="button" aria-pressed={asList} onClick={() => change({ view: asList ? 'matrix' : 'list' })}>List</button>
      {(state.status || state.assertion || text || state.column >= 0) && <button type="button" onClick={() => { type(''); clearFilters(); }}>Clear filters</button>}
      <button type="button" class="help" aria-label="Keys" title="Keys (?)" onClick={help}>?</button>
    </div>
  );
}

