// The pass rate of an assertion over runs, with the interval for each run. The table beside
// it has the same figures.
import type { AssertionHistory } from '../api';
import { percent, when } from '../number';
import { interval } from '../parts/rate';
import { rate } from './figures';

type Point = AssertionHistory['history'][number];

const width = 640, height = 240, left = 46, right = 12, top = 10, bottom = 26;

export function HistoryChart({ points }: { points: Point[] }) {
  const known = points.filter((p) => rate(p) !== null);
  if (!known.length) return <p class="muted">There is no verdict yet.</p>;
  const low = Math.floor(10 * Math.max(0, Math.min(...known.map((p) => interval(p).low)))) / 10;
  const x = (i: number) => left + ((width - left - right) * (points.length === 1 ? 0.5 : i / (points.length - 1)));
  const y = (r: number) => top + (height - top - bottom) * (1 - (r - low) / (1 - low || 1));
  let path = '', pen = 'M';
  points.forEach((p, i) => {
    const r = rate(p);
    if (r === null) { pen = 'M'; return; } // missing data is a gap, never 0
    path += pen + x(i).toFixed(1) + ' ' + y(r).toFixed(1);
    pen = 'L';
  });
  const ticks = [low, (low + 1) / 2, 1];
  return (
    <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`Pass rate over ${points.length} runs, last ${percent(rate(known.at(-1)!))}. The table has all figures.`}>
      {ticks.map((t) => <g key={t}><path class="grid" d={`M${left} ${y(t)}H${width - right}`} /><text x={left - 6} y={y(t) + 4} class="end">{Math.round(100 * t)} %</text></g>)}
      <text x={left} y={height - 6}>{when(points[0]!.started_at)}</text>
      {points.length > 1 && <text x={width - right} y={height - 6} class="end">{when(points.at(-1)!.started_at)}</text>}
      {points.map((p, i) => {
        if (rate(p) === null) return null;
        const { low: from, high: to } = interval(p);
        return <path key={p.run} class="ends" d={`M${x(i)} ${y(from)}V${y(to)}M${x(i) - 4} ${y(from)}h8M${x(i) - 4} ${y(to)}h8`} />;
      })}
      <path class="rates" d={path} />
      {points.map((p, i) => { const r = rate(p); return r === null ? null : <circle key={p.run} cx={x(i)} cy={y(r)} r="4"><title>{when(p.started_at)}: {percent(r)}</title></circle>; })}
    </svg>
  );
}
