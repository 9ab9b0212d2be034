// The open case: the verdicts with their reasons, beside the output.
import { type ComponentChildren, type ComponentType } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Detail, Evidence } from '../api';
import { useLoad } from '../load';
import { count, dollars, duration, plural } from '../number';
import { CopyLink } from '../parts/actions';
import { Data } from '../parts/states';
import { StatusMark, glyphs, names as statusNames, words } from '../parts/status';
import type { RunSource } from '../source';
import { Text, plain, shorten } from '../text';
import { Assertions } from './assertion';
import { rowOf, worstRepeat, type Model } from './model';
import type { ColumnName } from './names';
import { Output, type Strong } from './output';
import { Long, Vars } from './texts';
import type { Previews } from './previews';
import type { Place } from './state';
import { Trace } from './trace';

// Around surrounds the verdicts of a row; a report has none.
export type Around = ComponentType<{ row: number; children: ComponentChildren }>;

interface Props {
  source: RunSource; model: Model; names: ColumnName[]; place: Place; previews: Previews; assertion: string; why: string;
  go: (column: number, repeat?: number) => void; step: (by: 1 | -1) => void; close: () => void;
  focus: number; outputOf?: (index: number) => string; around?: Around;
}

export function Drawer(p: Props) {
  const { model: m, place } = p;
  const row = rowOf(m, place.case, place.column, place.repeat);
  const loaded = useLoad(async (signal) => (row < 0 ? undefined : { detail: await p.source.detail(row, signal) }), [p.source, row]);
  const box = useRef<HTMLElement>(null);
  useEffect(() => { if (p.focus > 0) box.current?.focus({ preventScroll: true }); }, [p.focus]);
  useEffect(() => { box.current?.scrollTo(0, 0); }, [row]);
  const id = m.matrix.cases[place.case]!, title = m.matrix.titles[place.case] ?? '';
  const status = statusNames[m.results[(place.case * m.columns + place.column) * m.repeats + place.repeat]! & 7] ?? 'running';
  return (
    <aside class="drawer" ref={box} tabIndex={-1} aria-label={'Case ' + plain(title || id)}>
      <header>
        <h2>{status === 'running' ? <span class="muted">Running</span> : <StatusMark status={status} />} <Text of={title ? shorten(title, 160) : id} />{title && <span class="muted id"> <Text of={id} /></span>}</h2>
        <div class="tools">
          <button type="button" title="Previous failing cell (K)" aria-label="Previous failing cell" onClick={() => p.step(-1)}>↑</button>
          <button type="button" title="Next failing cell (J)" aria-label="Next failing cell" onClick={() => p.step(1)}>↓</button>
          <CopyLink />
          <button type="button" onClick={p.close} title="Close (Escape)">Close</button>
        </div>
      </header>
      {p.why && <p class="muted came">{p.why}</p>}
      <Elsewhere {...p} />
      {row < 0 ? <p class="muted">There is no result yet.</p> : (
        <Data of={loaded} what="the case">{(d) => d && <Body key={row} d={d.detail} assertion={p.assertion} id={id} {...(p.outputOf ? { href: p.outputOf(row) } : {})} {...(p.around ? { around: p.around } : {})} />}</Data>
      )}
    </aside>
  );
}

// Elsewhere shows the same case in the other columns, and its repeats.
function Elsewhere({ model: m, names, place, previews, go }: Props) {
  const cells = Array.from({ length: Math.min(m.columns, 24) }, (_, j) => j);
  useEffect(() => previews.want('case', cells.map((j) => rowOf(m, place.case, j, worstRepeat(m, place.case, j)))));
  useEffect(() => () => previews.want('case', []), [previews]);
  return (
    <>
      {m.columns > 1 && <div class="elsewhere" role="group" aria-label="This case in each column">
        {cells.map((j) => {
          const s = statusNames[m.cells[place.case * m.columns + j]!] ?? 'running', seen = previews.get(rowOf(m, place.case, j, worstRepeat(m, place.case, j)));
          return (
            <button type="button" key={j} aria-pressed={j === place.column} onClick={() => go(j)} title={names[j]!.whole}>
              <span class={'status ' + s}>{s === 'running' ? '…' : glyphs[s]}<span class="hidden"> {s === 'running' ? s : words[s]}</span></span> <span class="name">{names[j]!.title}{names[j]!.under && <span class="muted"> {names[j]!.under}</span>}</span>
              {seen && <bdi class="preview">{plain(shorten((s !== 'pass' && seen.why) || seen.output, 120))}</bdi>}
            </button>
          );
        })}
      </div>}
      {m.repeats > 1 && (
        <div class="repeats" role="group" aria-label="Repeats">
          {Array.from({ length: Math.min(m.repeats, 50) }, (_, k) => {
            const s = statusNames[m.results[(place.case * m.columns + place.column) * m.repeats + k]! & 7] ?? 'running';
            return <button type="button" key={k} aria-pressed={k === place.repeat} onClick={() => go(place.column, k)}><span class={'status ' + s}>{s === 'running' ? '…' : glyphs[s]}</span><span class="hidden"> {s}, repeat</span> {k + 1}</button>;
          })}
        </div>
      )}
    </>
  );
}

function Body({ d, assertion, id, href, around: Labels }: { d: Detail; assertion: string; id: string; href?: string; around?: Around }) {
  const [strong, mark] = useState<Strong>({ start: -1, turn: 0 });
  const evidence = useMemo(() => d.assertions.flatMap((a) => a.evidence ?? []).slice(0, 500), [d]);
  const show = (e: Evidence) => mark((s) => ({ start: e.start!, turn: s.turn + 1 }));
  const facts: string[] = [];
  if (d.latency_ms !== undefined) facts.push(duration(d.latency_ms));
  if (d.cost !== undefined) facts.push(dollars(d.cost) + (d.cached ? ' (cached, paid ' + dollars(d.incurred_cost ?? 0) + ')' : ''));
  else if (d.cached) facts.push('cached');
  if (d.tokens !== undefined) facts.push(plural(d.tokens, 'token'));
  const list = <Assertions of={d.assertions} first={assertion} mark={show} />;
  const verdicts = Labels ? <Labels row={d.index}>{list}</Labels> : list;
  return (
    <>
      <p class="verdict num">
        {d.score && d.score !== '–' && <>Score {d.score}</>}{d.forgiven && <span class="status pass"> It counts as passed: enough repeats of the case passed.</span>}
        {facts.length > 0 && <span class="muted">{d.score && d.score !== '–' ? ' · ' : ''}{facts.join(' · ')}</span>}
      </p>
      {d.why && <p class="problem"><Text of={shorten(d.why, 4000)} /></p>}
      <div class="beside">
        <div class="verdicts">{d.assertions.length ? verdicts : <p class="muted">This case has no assertions.</p>}</div>
        <section class="out" aria-label="Output" >
          <h3>Output</h3>
          <Output text={d.output} evidence={evidence} strong={strong} name={'output-' + id.replace(/[^\w.-]+/g, '_').slice(0, 60) + '.txt'} cut={d.cut?.includes('output') ?? false} {...(href ? { href } : {})} />
        </section>
      </div>
      {d.vars.length > 0 && <Vars of={d.vars} />}
      {d.prompt && <details><summary>Prompt<span class="muted"> {count(d.prompt.length)} characters</span></summary><Long text={d.prompt} /></details>}
      {d.spans && d.spans.length > 0 && <Trace spans={d.spans} />}
    </>
  );
}
