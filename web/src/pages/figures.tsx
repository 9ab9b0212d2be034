// Figures that several pages show: rates with their interval, changes, and small charts.
import { Bar, asked, decided, interval, type Counts } from '../parts/rate';
import { StatusMark } from '../parts/status';
import { count, percent, plural, points } from '../number';

export const rate = (c: Counts): number | null => (decided(c) ? c.passed / asked(c) : null);

// Below this number, counts are more informative than a rate.
const few = 30;

// Rate shows a pass rate with its bar, its 95 % interval and its counts.
export function Rate({ counts }: { counts: Counts }) {
  const n = asked(counts);
  if (n === 0) return <span class="muted">no verdict</span>;
  if (decided(counts) === 0) return <StatusMark status="error" word={plural(counts.errors, 'error')} />;
  const { low, high } = interval(counts);
  const share = percent(counts.passed / n), range = Math.round(100 * low) + '–' + Math.round(100 * high) + ' %';
  return (
    <span class="ratecell num">
      <strong>{n < few ? count(counts.passed) + ' of ' + count(n) : share}</strong>
      <Bar counts={counts} />
      <span class="muted">{n < few ? share + ' (' + range + ')' : range + ' · n ' + count(n)}</span>
    </span>
  );
}

// difference returns the difference of two rates with its 95 % interval (Newcombe's, from
// Wilson's).
export function difference(base: Counts, head: Counts): { value: number; low: number; high: number } | null {
  const a = rate(base), b = rate(head);
  if (a === null || b === null) return null;
  const x = interval(base), y = interval(head);
  return { value: b - a, low: b - a - Math.hypot(b - y.low, x.high - a), high: b - a + Math.hypot(y.high - b, a - x.low) };
}

// Delta shows a difference of shares. If its interval contains 0, it is within the noise,
// unless a stricter test found it; found names that test.
export function Delta({ value, low, high, found }: { value: number | null; low: number | null; high: number | null; found?: string }) {
  if (value === null) return <span class="muted">–</span>;
  if (!found && (low === null || high === null || (low <= 0 && high >= 0))) return <span class="delta num muted" title="The 95 % interval of the difference contains 0">{value === 0 ? '0' : points(value)} <small>within noise</small></span>;
  return <span class={'delta num ' + (value < 0 ? 'worse' : 'better')}><span aria-hidden="true">{value < 0 ? '▼ ' : '▲ '}</span>{points(value)}{found && <small> {found}</small>}</span>;
}

// Spark draws the rates of the last runs, oldest first. Runs without a rate are gaps.
export function Spark({ rates }: { rates: (number | null)[] }) {
  const known = rates.filter((r): r is number => r !== null);
  if (known.length < 2) return null;
  const low = Math.max(0, Math.min(...known) - 0.05), span = Math.max(0.1, Math.min(1, Math.max(...known) + 0.05) - low);
  const x = (i: number) => 3 + (94 * i) / (rates.length - 1), y = (r: number) => 21 - (18 * (r - low)) / span;
  let path = '', pen = 'M';
  rates.forEach((r, i) => {
    if (r === null) { pen = 'M'; return; }
    path += pen + x(i).toFixed(1) + ' ' + y(r).toFixed(1);
    pen = 'L';
  });
  const last = rates.lastIndexOf(known.at(-1)!);
  return (
    <svg class="spark" viewBox="0 0 100 24" role="img" aria-label={`Pass rates of the last ${known.length} runs, from ${percent(known[0])} to ${percent(known.at(-1))}`}>
      <path d={path} /><circle cx={x(last)} cy={y(rates[last]!)} r="2.5" />
    </svg>
  );
}

// Whiskers draws a difference and its interval on a scale from −most to most.
export function Whiskers({ value, low, high, most, found }: { value: number | null; low: number | null; high: number | null; most: number; found?: string }) {
  if (value === null) return null;
  const x = (v: number) => 60 + (56 * Math.max(-most, Math.min(most, v))) / most;
  const noise = !found && (low === null || high === null || (low <= 0 && high >= 0));
  return (
    <svg class={'whiskers ' + (noise ? 'noise' : value < 0 ? 'worse' : 'better')} viewBox="0 0 120 20" aria-hidden="true">
      <path class="zero" d="M60 1V19" />
      {low !== null && high !== null && <path class="ends" d={`M${x(low)} 10H${x(high)}M${x(low)} 6V14M${x(high)} 6V14`} />}
      <circle cx={x(value)} cy="10" r="4" />
    </svg>
  );
}

// rateWithInterval formats an estimate of a share, such as 74 % (69–79).
export function rateWithInterval(e: { value: number | null; low: number | null; high: number | null }): string {
  if (e.value === null) return '–';
  return percent(e.value) + (e.low === null || e.high === null ? '' : ' (' + Math.round(100 * e.low) + '–' + Math.round(100 * e.high) + ')');
}
