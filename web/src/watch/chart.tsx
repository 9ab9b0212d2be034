// The chart of one assertion: the failure rate over time with its interval, the limit as a
// step for each bucket, gaps, n as bars below, and marked times. A table shows the same
// data.
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { SeriesBucket } from '../api';
import { count, percent, when } from '../number';
import { plain } from '../text';

export interface Mark { at: string; kind: 'alarm' | 'change'; label: string; href?: string }

const H = 172, left = 44, right = 8, top = 10, bottom = 48, bars = 20, few = 30;

// limit is the largest rate of a bucket of n verdicts that chance explains: p plus three
// standard errors. It depends on n, so it is drawn as a step for each bucket.
const limit = (p: number, n: number): number => Math.min(1, p + 3 * Math.sqrt((p * (1 - p)) / n));

interface Props {
  label: string; buckets: (SeriesBucket | null)[]; from: string; stepS: number; inControl: number | null; marks: Mark[]; choose?: (from: string, to: string) => void;
}

export function Chart({ label, buckets, from, stepS, inControl, marks, choose }: Props) {
  const [begun, begin] = useState<number>();
  const [at, point] = useState<number>();
  const [tabled, table] = useState(false);
  const box = useRef<HTMLDivElement>(null), [W, fit] = useState(640);
  // The chart's units are page pixels, so that its text has the usual size.
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([e]) => { if (e && e.contentRect.width > 0) fit(Math.max(200, Math.round(e.contentRect.width))); });
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);
  const first = Math.floor(Date.parse(from) / 1000 / stepS) * stepS * 1000, end = first + buckets.length * stepS * 1000;
  const highs = buckets.map((b) => (b && b.rate !== null ? Math.max(b.high ?? b.rate, inControl === null ? 0 : Math.min(0.6, limit(inControl, b.n))) : 0));
  const most = Math.min(1, Math.max(0.05, ...highs) * 1.05);
  const x = (i: number) => left + ((W - left - right) * i) / buckets.length, y = (v: number) => top + (H - top - bottom) * (1 - Math.min(v, most) / most);
  const mid = (i: number) => (x(i) + x(i + 1)) / 2, timeOf = (i: number) => new Date(first + i * stepS * 1000).toISOString();
  const largest = Math.max(1, ...buckets.map((b) => b?.n ?? 0)), floor = H - bottom + 4 + bars;
  let line = '', ends = '', steps = '', volume = '', pen = 'M';
  buckets.forEach((b, i) => {
    if (b?.n) volume += `M${x(i).toFixed(1)} ${floor}V${(floor - Math.max(1, (bars * b.n) / largest)).toFixed(1)}H${(x(i + 1) - Math.min(1, (x(i + 1) - x(i)) / 4)).toFixed(1)}V${floor}Z`;
    if (!b || b.rate === null) { pen = 'M'; return; }
    line += pen + mid(i).toFixed(1) + ' ' + y(b.rate).toFixed(1);
    pen = 'L';
    if (b.low !== null && b.high !== null) ends += `M${mid(i).toFixed(1)} ${y(b.low).toFixed(1)}V${y(b.high).toFixed(1)}`;
    if (inControl !== null) steps += `M${x(i).toFixed(1)} ${y(limit(inControl, b.n)).toFixed(1)}H${x(i + 1).toFixed(1)}`;
  });
  const slot = (e: PointerEvent) => {
    const area = (e.currentTarget as Element).getBoundingClientRect();
    return Math.max(0, Math.min(buckets.length - 1, Math.floor((((e.clientX - area.left) / area.width) * W - left) / ((W - left - right) / buckets.length))));
  };
  const over = (b: SeriesBucket | null): boolean => !!b && b.rate !== null && inControl !== null && b.rate > limit(inControl, b.n);
  const shown = at === undefined ? undefined : buckets[at];
  const range = begun !== undefined && at !== undefined ? [Math.min(begun, at), Math.max(begun, at) + 1] as const : undefined;
  const axis = most >= 0.2 ? [0, most / 2, most] : [0, most];
  return (
    <div class="chartbox" ref={box}>
      <svg class="control" viewBox={`0 0 ${W} ${H}`} role="img" aria-label={label}
        onPointerDown={(e) => { if (choose) { begin(slot(e)); point(slot(e)); } }}
        onPointerMove={(e) => point(slot(e))}
        onPointerLeave={() => { point(undefined); begin(undefined); }}
        onPointerUp={() => { if (choose && range && range[1] - range[0] > 1) choose(timeOf(range[0]), timeOf(range[1])); begin(undefined); }}>
        {axis.map((v) => <g key={v}><path class="grid" d={`M${left} ${y(v)}H${W - right}`} /><text x={left - 6} y={y(v) + 4} class="tick end">{percent(v)}</text></g>)}
        {range && <rect class="range" x={x(range[0])} width={x(range[1]) - x(range[0])} y={top} height={H - top - bottom} />}
        {inControl !== null && <path class="incontrol" d={`M${left} ${y(inControl)}H${W - right}`} />}
        <path class="volume" d={volume} /><text x={left - 6} y={floor} class="tick end">n ≤ {count(largest)}</text>
        <path class="limits" d={steps} /><path class="ends" d={ends} /><path class="rate" d={line} />
        {buckets.map((b, i) => b && b.rate !== null && <circle key={i} class={over(b) ? 'point over' : 'point'} cx={mid(i)} cy={y(b.rate)} r={over(b) ? 3.5 : 1.8} />)}
        {marks.map((m) => { const t = Date.parse(m.at); return t >= first && t <= end && <g key={m.kind + m.at + m.label} class={'mark ' + m.kind}><path d={`M${left + ((W - left - right) * (t - first)) / (end - first)} ${top}V${H - bottom}`} /><title>{plain(m.label)}</title></g>; })}
        {at !== undefined && <path class="cursor" d={`M${mid(at)} ${top}V${H - bottom}`} />}
        <text x={left} y={H - 6} class="tick">{when(timeOf(0))}</text><text x={W - right} y={H - 6} class="tick end">{when(new Date(end).toISOString())}</text>
      </svg>
      <p class="readout muted num" aria-hidden="true">{at === undefined ? (choose ? 'Drag over a time to see what differs in it.' : '') : when(timeOf(at)) + ': ' + (shown && shown.rate !== null ? `${shown.n < few ? `${count(shown.fail)} of ${count(shown.n)}` : percent(shown.rate)} fail (n = ${count(shown.n)}${shown.low !== null && shown.high !== null ? `, 95 %: ${percent(shown.low)} to ${percent(shown.high)}` : ''})` : 'nothing was evaluated')}</p>
      {marks.length > 0 && <ul class="marks">{marks.slice(0, 12).map((m) => <li key={m.kind + m.at + m.label}><span aria-hidden="true">{m.kind === 'alarm' ? '▲ ' : '│ '}</span>{when(m.at)}: {m.href ? <a href={m.href}>{plain(m.label)}</a> : plain(m.label)}</li>)}</ul>}
      <details onToggle={(e) => table(e.currentTarget.open)}><summary>Table</summary>
        {tabled && <div class="scrolled" tabIndex={0} role="group" aria-label={'Table of ' + label}>
          <table class="plaintable"><thead><tr><th scope="col">From</th><th scope="col">Fail</th><th scope="col">95 % interval</th><th scope="col">n</th><th scope="col">Errors</th><th scope="col">Limit</th>{choose && <th scope="col"><span class="hidden">What differs</span></th>}</tr></thead>
            <tbody>{buckets.map((b, i) => <tr key={i}><th scope="row">{when(timeOf(i))}</th>{b && b.rate !== null
              ? <><td>{percent(b.rate)}</td><td>{percent(b.low)} to {percent(b.high)}</td><td>{count(b.n)}</td><td>{count(b.errors ?? 0)}</td><td>{inControl === null ? '–' : percent(limit(inControl, b.n))}</td></>
              : <td colSpan={5} class="muted">{b?.errors ? 'only errors: ' + count(b.errors) : 'nothing was evaluated'}</td>}
              {choose && <td><button type="button" class="link" onClick={() => choose(timeOf(i), timeOf(i + 1))}>What differs</button></td>}</tr>)}</tbody></table>
        </div>}
      </details>
    </div>
  );
}
