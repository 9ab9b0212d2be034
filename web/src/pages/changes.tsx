// The cases of a comparison by kind of change. A case opens with both outputs.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Change, Comparison, Preview } from '../api';
import { runAddress } from '../http';
import { get, useLoad } from '../load';
import { count, plural, points } from '../number';
import { Empty } from '../parts/states';
import { plain, shorten } from '../text';
import { address, change, usePlace } from '../url';
import { Search } from './filters';
import { Pair } from './pair';

const perPage = 50;

interface Kind { id: string; name: string; changes: Change[]; names: string[]; size: number }

// kinds groups the changes, in the order of these lists.
function kinds(c: Comparison): Kind[] {
  const { broke, fixed, flaky, still_failing: still } = c.cases;
  let at = 0;
  const take = (id: string, name: string, names: string[]): Kind => ({ id, name, names: [], size: names.length, changes: c.changes.slice(at, (at += names.length)) });
  const found = [take('broke', 'Broke', broke), take('fixed', 'Fixed', fixed), take('flaky', 'Flaky', flaky), take('still', 'Still failing', still)];
  const named = (id: string, name: string, names: string[]): Kind => ({ id, name, names, size: names.length, changes: [] });
  const rest = [named('undecided', 'Errors', c.cases.undecided), named('base', 'Only in base', c.cases.only_base), named('head', 'Only in head', c.cases.only_head)];
  return [found[0]!, found[1]!, found[3]!, found[2]!, ...rest.filter((k) => k.size)];
}

export function Changes({ c, base, head }: { c: Comparison; base: string; head: string }) {
  const { query } = usePlace();
  const all = useMemo(() => kinds(c), [c]);
  const kind = all.find((k) => k.id === query.get('kind')) ?? all.find((k) => k.size) ?? all[0]!;
  const q = (query.get('q') ?? '').toLowerCase(), assertion = query.get('a') ?? '', page = Math.max(1, Number(query.get('page')) || 1), open = query.get('open');
  const matches = (id: string) => !q || id.toLowerCase().includes(q) || titleOf(c, id).toLowerCase().includes(q);
  const found = useMemo(() => kind.changes.filter((x) => matches(x.case) && (!assertion || x.broke.includes(assertion) || x.fixed.includes(assertion))), [kind, q, assertion]);
  const names = useMemo(() => (assertion ? [] : kind.names.filter(matches)), [kind, q, assertion]);
  const size = found.length + names.length, pages = Math.max(1, Math.ceil(size / perPage)), first = (Math.min(page, pages) - 1) * perPage;
  const seen = found.slice(first, first + perPage), inputs = useInputs(head, seen);
  const changed = (x: Change) => x.case + '|' + x.column;
  return (
    <section aria-labelledby="cases">
      <h2 id="cases">Cases</h2>
      <div class="filterrow" role="group" aria-label="Filter by change">
        {all.map((k) => <button key={k.id} type="button" aria-pressed={k === kind} onClick={() => change({ kind: k.id, page: '', open: '' })}>{k.name} <span class="num">{count(k.size)}</span></button>)}
        <span class="muted num">{count(c.cases.same)} the same</span>
        <Search label="Search cases" />
        {assertion && <button type="button" onClick={() => change({ a: '', page: '' })}>Only {plain(shorten(assertion, 60))} <span aria-hidden="true">✕</span><span class="hidden">, remove this filter</span></button>}
      </div>
      {size === 0 && <Empty>{kind.size === 0 ? nothing(kind) : <>No case matches. <button type="button" class="link" onClick={() => change({ q: '', a: '', page: '' })}>Clear filters</button></>}</Empty>}
      <ul class="changes">
        {seen.map((x) => <Line key={changed(x)} x={x} input={inputs.get(x.head_rows[0] ?? -1)} c={c} base={base} head={head} open={open === changed(x)} toggle={() => change({ open: open === changed(x) ? '' : changed(x) })} />)}
        {names.slice(Math.max(0, first - found.length), first - found.length + perPage).map((n, i) => <li key={i}><a href={address('/runs/' + encodeURIComponent(kind.id === 'base' ? base : head), { q: n, status: 'all' })}>{plain(shorten(titleOf(c, n), 200))}</a></li>)}
      </ul>
      {pages > 1 && <nav class="paging" aria-label="Pages of cases">
        <button type="button" disabled={page <= 1} onClick={() => change({ page: String(page - 1), open: '' })}>Previous</button>
        <span class="num" role="status">{count(first + 1)}–{count(Math.min(size, first + perPage))} of {count(size)}</span>
        <button type="button" disabled={page >= pages} onClick={() => change({ page: String(page + 1), open: '' })}>Next</button>
      </nav>}
    </section>
  );
}

// titleOf returns a case's name for people: its id or, for a case without one, the
// comparison's title.
const titleOf = (c: Comparison, id: string): string => c.titles?.[id] || id;

// useInputs loads the inputs of a page's cases, because an id alone says little.
function useInputs(head: string, list: Change[]): Map<number, string> {
  const rows = list.map((x) => x.head_rows[0]).filter((r) => r !== undefined).join(',');
  const loaded = useLoad((signal) => (rows ? get<Preview[]>(runAddress(head) + '/previews?index=' + rows, signal) : Promise.resolve([])), [head, rows]);
  return new Map((loaded.data ?? []).map((p) => [p.index, p.input]));
}

const nothing = (k: Kind): string => (({ broke: 'No case broke.', fixed: 'No case was fixed.', still: 'No case fails in both runs.', flaky: 'No case is flaky.' }) as Record<string, string>)[k.id] ?? 'There are no such cases.';

function Line({ x, input, c, base, head, open, toggle }: { x: Change; input?: string; c: Comparison; base: string; head: string; open: boolean; toggle: () => void }) {
  const line = useRef<HTMLLIElement>(null);
  useEffect(() => { if (open) line.current!.scrollIntoView({ block: 'nearest' }); }, []);
  const column = c.columns.length > 1 ? c.columns[x.column]?.head : undefined;
  const chips = (list: string[], word: string, kind: string) => list.slice(0, 4).map((a) => <span key={word + a} class={'chip ' + kind}>{plain(shorten(a, 60))} {word}</span>);
  const more = Math.max(0, x.broke.length - 4) + Math.max(0, x.fixed.length - 4);
  return (
    <li ref={line}>
      <button type="button" class="change" aria-expanded={open} onClick={toggle}>
        <span class="arrow" aria-hidden="true">{open ? '▾' : '▸'}</span>
        <span class="casename">{plain(shorten(titleOf(c, x.case), 120))}{column && <span class="muted"> {plain(shorten([column.prompt, column.provider].filter(Boolean).join(' · '), 60))}</span>}{input && <span class="sub muted">{plain(shorten(input, 160))}</span>}</span>
        <span class="chips">{chips(x.broke, 'broke', 'worse')}{chips(x.fixed, 'fixed', 'better')}{more > 0 && <span class="muted">and {plural(more, 'more')}</span>}</span>
        <span class="num muted">{x.change === null ? '' : 'score ' + points(x.change)}</span>
      </button>
      {open && <Pair x={x} base={base} head={head} />}
    </li>
  );
}
