// Numbers for people. Rates and intervals are those of packages stats and report.
export const count = (n: number): string => n.toLocaleString('en');

export const plural = (n: number, noun: string): string => count(n) + ' ' + noun + (n === 1 ? '' : 's');

// hundredths formats a number with two decimals. A number that rounds to 0 has no sign.
export const hundredths = (v: number): string => v.toFixed(2).replace(/^-(?=0\.00$)/, '').replace('-', '−');

// percent formats a share. It shows 100 % or 0 % only if the share is exactly that.
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || Number.isNaN(share)) return '–';
  const p = 100 * share;
  if (p > 0 && p < 1) return '< 1 %';
  if (p > 99 && p < 100) return '> 99 %';
  return Math.round(p) + ' %';
}

// points formats a difference of shares in percentage points, with its sign.
export function points(share: number | null | undefined): string {
  if (share === null || share === undefined) return '–';
  const p = Math.round(1000 * share) / 10;
  return (p > 0 ? '+' : p < 0 ? '−' : '') + Math.abs(p) + ' pts';
}

// wilson returns the 95 % interval of a share (Wilson's score interval).
export function wilson(hits: number, n: number): { low: number; high: number } {
  if (n === 0) return { low: 0, high: 1 };
  const z = 1.959963984540054, p = hits / n, zz = z * z;
  const mid = (p + zz / (2 * n)) / (1 + zz / n);
  const half = (z / (1 + zz / n)) * Math.sqrt((p * (1 - p)) / n + zz / (4 * n * n));
  return { low: Math.max(0, mid - half), high: Math.min(1, mid + half) };
}

export function dollars(usd: number): string {
  if (usd === 0) return '$0';
  return usd < 0.01 ? '$' + Number(usd.toPrecision(2)) : '$' + usd.toFixed(2);
}

export function duration(ms: number): string {
  if (ms < 1000) return Math.round(ms) + ' ms';
  if (ms < 60_000) return (ms / 1000).toFixed(1) + ' s';
  const s = Math.round(ms / 1000);
  return s < 3600 ? Math.floor(s / 60) + ' m ' + String(s % 60).padStart(2, '0') + ' s' : Math.floor(s / 3600) + ' h ' + String(Math.floor(s / 60) % 60).padStart(2, '0') + ' m';
}

export function when(time: string | undefined): string {
  if (!time) return '';
  return new Date(time).toLocaleString('en', { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', hour12: false });
}
