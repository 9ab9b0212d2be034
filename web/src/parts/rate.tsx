import { count, percent, plural, wilson } from '../number';

export interface Counts { passed: number; failed: number; errors: number; skipped?: number }

export const decided = (c: Counts): number => c.passed + c.failed;
export const asked = (c: Counts): number => c.passed + c.failed + c.errors;

// rateText formats the pass rate of all verdicts, errors included, with its counts.
export function rateText(c: Counts): string {
  const n = asked(c);
  if (n === 0) return 'no verdict';
  if (decided(c) === 0) return plural(c.errors, 'error') + ' of ' + count(n);
  const parts = [percent(c.passed / n) + ' pass', percent(c.failed / n) + ' fail'];
  if (c.errors) parts.push(percent(c.errors / n) + ' error');
  return parts.join(' · ') + ' (n = ' + count(n) + ')';
}

// interval is the 95 % interval of the pass rate. An error could be a pass or a fail.
export function interval(c: Counts): { low: number; high: number } {
  const n = asked(c);
  return { low: wilson(c.passed, n).low, high: wilson(c.passed + c.errors, n).high };
}

// Bar draws the shares of passes, errors and fails, with the 95 % interval of the pass
// rate. The numbers are beside it.
export function Bar({ counts }: { counts: Counts }) {
  const n = asked(counts);
  if (decided(counts) === 0) return null;
  const ok = (100 * counts.passed) / n, bad = (100 * counts.failed) / n;
  const { low, high } = interval(counts);
  return (
    <svg class="bar" viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true">
      <rect class="back" width="100" height="12" />
      <rect class="ok" width={ok} height="12" />
      <rect class="bad" x={100 - bad} width={bad} height="12" />
      <path class="ends" d={`M${100 * low} 6H${100 * high}M${100 * low} 3V9M${100 * high} 3V9`} />
    </svg>
  );
}
