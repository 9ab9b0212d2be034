// The trace of a row: a tree of spans with their durations.
import { useState } from 'preact/hooks';
import type { Span } from '../api';
import { duration, plural } from '../number';
import { Text, plain, shorten } from '../text';

const most = 60;

export function depths(spans: Span[]): number[] {
  const at = new Map<string, number>();
  return spans.map((s) => {
    const depth = Math.min(12, s.parent === undefined ? 0 : (at.get(s.parent) ?? -1) + 1);
    at.set(s.id, depth);
    return depth;
  });
}

export function Trace({ spans }: { spans: Span[] }) {
  const [all, showAll] = useState(false);
  const begin = spans.reduce((t, s) => Math.min(t, s.start_ms), Infinity), end = spans.reduce((t, s) => Math.max(t, s.start_ms + s.duration_ms), 0);
  const whole = Math.max(1, end - begin), depth = depths(spans);
  return (
    <details class="trace">
      <summary>Trace: {plural(spans.length, 'span')}, {duration(end - begin)}</summary>
      <table>
        <thead><tr><th scope="col">Span</th><th scope="col">Time</th><td><span class="hidden">When</span></td></tr></thead>
        <tbody>
          {spans.slice(0, all ? 300 : most).map((s, i) => (
            <tr key={s.id + i} title={plain((s.attributes ?? []).slice(0, 12).map(([k, v]) => k + ': ' + shorten(v, 120)).join('\n'))}>
              <th scope="row" style={{ paddingLeft: 4 + 12 * depth[i]! + 'px' }}>
                {s.status && s.status !== 'ok' && s.status !== 'unset' && <span class="status error"><span aria-hidden="true">! </span><span class="hidden">Error: </span></span>}<Text of={shorten(s.name, 100)} />{s.kind && <span class="muted"> {plain(s.kind)}</span>}
              </th>
              <td class="num">{duration(s.duration_ms)}</td>
              <td class="fall"><svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect x={(100 * (s.start_ms - begin)) / whole} width={Math.max(0.7, (100 * s.duration_ms) / whole)} height="8" /></svg></td>
            </tr>
          ))}
        </tbody>
      </table>
      {!all && spans.length > most && <button type="button" onClick={() => showAll(true)}>Show more of {plural(spans.length, 'span')}</button>}
    </details>
  );
}
