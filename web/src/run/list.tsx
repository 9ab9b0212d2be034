// Cases as a list, for narrow windows and large text. It is paged, so that it stays small.
import { useEffect, useState } from 'preact/hooks';
import { count } from '../number';
import { glyphs, names as statusNames, words } from '../parts/status';
import { plain, shorten } from '../text';
import { passes, rowOf, worstRepeat, type Model } from './model';
import type { ColumnName } from './names';
import type { Previews } from './previews';

const page = 20;

export function CaseList({ model: m, list, names, previews, open }: { model: Model; list: Uint32Array; names: ColumnName[]; previews: Previews; open: (c: number, column: number) => void }) {
  const [at, go] = useState(0);
  const from = Math.min(at, Math.max(0, list.length - 1)), shown = list.slice(from, from + page);
  const columns = Array.from({ length: Math.min(m.columns, 8) }, (_, j) => j);
  useEffect(() => previews.want('list', [...shown].flatMap((c) => columns.map((j) => rowOf(m, c, j, worstRepeat(m, c, j))))));
  useEffect(() => () => previews.want('list', []), [previews]);
  return (
    <div class="cases">
      <ul>
        {[...shown].map((c) => (
          <li key={c}>
            <h2><bdi>{plain(shorten(m.matrix.titles[c] || m.matrix.cases[c]!, 160))}</bdi></h2>
            {columns.map((j) => {
              const s = statusNames[m.cells[c * m.columns + j]!] ?? 'running', seen = previews.get(rowOf(m, c, j, worstRepeat(m, c, j)));
              return (
                <button type="button" key={j} class="plain" onClick={() => open(c, j)}>
                  <span class={'status ' + s}>{s === 'running' ? '…' : glyphs[s]}<span class="hidden"> {s === 'running' ? 'Running' : words[s]} </span>{m.repeats > 1 && <span class="num"> {passes(m, c, j)}/{m.repeats}</span>}</span>
                  {m.columns > 1 && <span class="name muted"> {names[j]!.title} · {names[j]!.under} </span>}
                  {seen && <bdi class="preview"> {plain((s !== 'pass' && seen.why) || seen.output)}</bdi>}
                </button>
              );
            })}
          </li>
        ))}
      </ul>
      {list.length > page && (
        <p class="pager">
          <button type="button" disabled={from === 0} onClick={() => go(Math.max(0, from - page))}>Previous</button>
          <span class="num"> {count(from + 1)}–{count(Math.min(list.length, from + page))} of {count(list.length)} </span>
          <button type="button" disabled={from + page >= list.length} onClick={() => go(from + page)}>Next</button>
        </p>
      )}
    </div>
  );
}
