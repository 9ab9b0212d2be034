// The matrix of a run: a row per case, a column per prompt and provider. Only the visible
// part is in the document. The grid is one tab stop, and arrow keys move inside.
import { Component, type ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { squareAt } from '../parts/squares';
import { names as statusNames } from '../parts/status';
import { plain } from '../text';
import { ColumnHead, ResultCell, cellWidth, placed, shownVerdicts } from './cell';
import { rowOf, verdictsOf, worstRepeat, type Model } from './model';
import { move } from './move';
import type { ColumnName } from './names';
import type { Previews } from './previews';

export interface Active { case: number; column: number } // case -1 is the header row

interface Props {
  model: Model; list: Uint32Array; names: ColumnName[]; previews: Previews;
  active: Active; activate: (a: Active) => void;
  chosen?: { case: number; column: number }; open: (c: number, column: number) => void;
  column: number; filterColumn: (column: number) => void;
  empty: ComponentChildren;
}

const rowHeight = 36, headHeight = 72;
const most = 490_000; // rows; browsers limit the height of an element

const overscan = 2;
const nodes = 1050; // maximum elements of all rows: a row has 3, and a cell about 6

// useView tracks the visible part of the scrolled area. It changes when another row or part
// of a column becomes visible.
function useView(scroller: { current: HTMLDivElement | null }) {
  const [view, set] = useState({ width: 900, height: 600, left: 0, top: 0 });
  useLayoutEffect(() => {
    const el = scroller.current!;
    const seen = () => set((s) => {
      const top = Math.floor(el.scrollTop / rowHeight), left = Math.floor(el.scrollLeft / 40) * 40;
      return s.width === el.clientWidth && s.height === el.clientHeight && s.left === left && s.top === top ? s : { width: el.clientWidth, height: el.clientHeight, left, top };
    });
    const watch = new ResizeObserver(seen);
    watch.observe(el);
    el.addEventListener('scroll', seen, { passive: true });
    return () => { watch.disconnect(); el.removeEventListener('scroll', seen); };
  }, []);
  return view;
}

const between = (from: number, to: number): number[] => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i);

export function Matrix(p: Props) {
  const { model: m, list, active } = p;
  const scroller = useRef<HTMLDivElement>(null), view = useView(scroller), listed = Math.min(list.length, most);
  const { first, each } = cellWidth(view.width, m.columns);
  const from = Math.max(0, Math.floor(view.left / each) - 1), to = Math.min(m.columns, Math.ceil((view.left + view.width - first) / each) + 1);
  const fit = Math.max(12, Math.floor(nodes / (3 + 6 * Math.max(1, to - from))) - 2 * overscan); // visible rows
  const top = Math.max(0, Math.min(view.top, listed - 1)); // the list may be shorter than the scroll position
  const items = between(Math.max(0, top - overscan), Math.min(listed, top + Math.min(fit, Math.ceil((view.height - headHeight) / rowHeight) + 1) + overscan));
  const scratch = useMemo(() => new Uint8Array(m.verdicts.length), [m.verdicts.length]);
  const position = active.case < 0 ? -1 : list.indexOf(active.case);
  const columns = between(from, to);

  const reveal = (at: number, column: number) => {
    const el = scroller.current!, top = at * rowHeight, room = el.clientHeight - headHeight;
    if (at >= 0 && top < el.scrollTop) el.scrollTop = top;
    else if (top + rowHeight > el.scrollTop + room) el.scrollTop = top + rowHeight - room;
    const x = column * each, wide = el.clientWidth - first;
    if (x < el.scrollLeft) el.scrollLeft = x;
    else if (x + each > el.scrollLeft + wide) el.scrollLeft = x + each - wide;
  };
  useLayoutEffect(() => { if (position >= 0) reveal(position, active.column); }, [active]);
  useEffect(() => {
    const wanted: number[] = [];
    for (const at of items) {
      const c = list[at]!;
      for (const j of columns) wanted.push(rowOf(m, c, j, worstRepeat(m, c, j)));
    }
    p.previews.want('matrix', wanted);
  });
  useEffect(() => () => p.previews.want('matrix', []), [p.previews]);

  const keyed = (e: KeyboardEvent) => {
    if (e.altKey || e.metaKey) return;
    if (e.key === 'Enter') {
      if (active.case < 0) p.filterColumn(active.column);
      else if (position >= 0) p.open(active.case, active.column);
    } else {
      const page = Math.max(1, Math.floor((scroller.current!.clientHeight - headHeight) / rowHeight) - 1);
      const next = move(e.key, e.ctrlKey, position, active.column, list.length, m.columns, page);
      if (!next) return;
      p.activate({ case: next[0] < 0 ? -1 : list[next[0]]!, column: next[1] });
    }
    e.preventDefault();
  };
  const pressed = (e: MouseEvent) => {
    const found = /^c(\d+)-(\d*)$/.exec((e.target as Element).closest('[role=gridcell], [role=rowheader]')?.id ?? '');
    const c = found && list[Number(found[1])];
    if (found && c !== null && c !== undefined) p.open(c, found[2] ? Number(found[2]) : -1);
  };
  const hover = (e: MouseEvent) => {
    const drawn = (e.target as Element).closest('svg.squares'), cell = drawn?.closest<HTMLElement>('[role=gridcell]');
    const found = /^c(\d+)-(\d+)$/.exec(cell?.id ?? ''), c = found && list[Number(found[1])];
    if (!drawn || !cell || c === null || c === undefined) return;
    verdictsOf(m, c, Number(found![2]), scratch);
    const at = squareAt(e.clientX - drawn.getBoundingClientRect().left), a = shownVerdicts(scratch)[at];
    cell.title = a === undefined ? '' : plain(`${m.matrix.assertions[a]}: ${statusNames[scratch[a]!]}`);
  };
  const total = first + each * m.columns;
  const tall = headHeight + (list.length ? Math.min(list.length, fit) * rowHeight + 18 : 160);
  return (
    <div class="matrix" role="grid" aria-label="Results by case and column" tabIndex={0} ref={scroller} style={{ maxHeight: tall + 'px', minHeight: Math.min(240, tall) + 'px' }} aria-rowcount={list.length + 1} aria-colcount={m.columns + 1}
      aria-activedescendant={position >= 0 || active.case < 0 ? `c${position}-${active.column}` : undefined} onKeyDown={keyed} onClick={pressed} onMouseMove={hover}>
      <div role="rowgroup" class="heads" style={{ width: total + 'px', height: headHeight + 'px' }}>
        <div role="row" aria-rowindex={1}>
          <div role="columnheader" aria-colindex={1} class="corner" style={{ width: first + 'px' }}>Case</div>
          {columns.map((j) => (
            <ColumnHead key={j} id={`c-1-${j}`} at={j} style={placed(first + j * each, each)} width={each} name={p.names[j]!} tally={m.byColumn[j]!}
              pressed={p.column === j} active={active.case < 0 && active.column === j} press={() => { p.activate({ case: -1, column: j }); p.filterColumn(j); }} />
          ))}
        </div>
      </div>
      {list.length === 0 ? <div role="row" aria-rowindex={2} class="none"><div role="gridcell" aria-colindex={1} aria-colspan={m.columns + 1}>{p.empty}</div></div> : (
        <div role="rowgroup" class="rows" style={{ width: total + 'px', height: listed * rowHeight + 'px' }}>
          {items.map((at) => (
            <Row key={at} model={m} names={p.names} previews={p.previews} version={p.previews.version} scratch={scratch} index={at} case={list[at]!} top={at * rowHeight}
              first={first} each={each} from={from} to={to} active={position === at ? active.column : -1} chosen={p.chosen?.case === list[at] ? p.chosen.column : -1} />
          ))}
        </div>
      )}
    </div>
  );
}

interface RowProps {
  model: Model; names: ColumnName[]; previews: Previews; version: number; scratch: Uint8Array;
  index: number; case: number; top: number; first: number; each: number; from: number; to: number; active: number; chosen: number;
}

// Row renders again only if it changed: scrolling renders only new rows.
class Row extends Component<RowProps> {
  override shouldComponentUpdate(next: RowProps): boolean {
    return (Object.keys(next) as (keyof RowProps)[]).some((key) => next[key] !== this.props[key]);
  }

  override render() {
    const { model: m, names, previews, scratch, index, case: c, top, first, each, from, to, active, chosen } = this.props;
    const id = plain(m.matrix.cases[c]!), title = plain(m.matrix.titles[c] ?? '');
    const columns = between(from, to);
    return (
      <div role="row" aria-rowindex={index + 2} class={chosen >= 0 ? 'row chosen' : 'row'} style={{ top: top + 'px', height: rowHeight + 'px' }}>
        <div role="rowheader" id={`c${index}-`} aria-colindex={1} class="case" style={{ width: first + 'px' }} title={title ? title + ' ' + id : id}>
          {title ? <><bdi>{title}</bdi> <span class="muted">{id}</span></> : <bdi>{id}</bdi>}
        </div>
        {columns.map((j) => (
          <ResultCell key={j} id={`c${index}-${j}`} model={m} case={c} column={j} name={names[j]!.title} style={placed(first + j * each, each)} width={each}
            scratch={scratch} preview={previews.get(rowOf(m, c, j, worstRepeat(m, c, j)))} active={active === j} chosen={chosen === j} />
        ))}
      </div>
    );
  }
}
