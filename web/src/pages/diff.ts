// Differences between two texts by words (Myers' algorithm). Texts that are long or have
// little in common get no diff and are shown unmarked.
import type { DiffPart } from '../api';

const mostWords = 20_000, mostEdits = 1500;

export function wordDiff(expected: string, actual: string): DiffPart[] | undefined {
  const a = words(expected), b = words(actual);
  if (a.length > mostWords || b.length > mostWords) return undefined;
  let start = 0, endA = a.length, endB = b.length;
  while (start < endA && start < endB && a[start] === b[start]) start++;
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) { endA--; endB--; }
  const middle = edits(a.slice(start, endA), b.slice(start, endB));
  if (!middle) return undefined;
  const parts: DiffPart[] = [];
  const add = (kind: DiffPart['kind'], text: string) => {
    const last = parts.at(-1);
    if (last?.kind === kind) last.text += text;
    else if (text) parts.push({ kind, text });
  };
  add('same', a.slice(0, start).join(''));
  for (const p of middle) add(p.kind, p.text);
  add('same', a.slice(endA).join(''));
  return parts;
}

const words = (text: string): string[] => text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];

// edits returns the shortest edit script from a to b; undefined if it is longer than
// mostEdits.
function edits(a: string[], b: string[]): DiffPart[] | undefined {
  const trace: Int32Array[] = [];
  const most = Math.min(a.length + b.length, mostEdits);
  let reach = new Int32Array(5); // of the previous turn: the furthest place on diagonal k is at k + d + 1
  for (let d = 0; d <= most; d++) {
    const now = new Int32Array(2 * d + 3);
    for (let k = -d; k <= d; k += 2) {
      const down = reach[k + d + 2]!, right = reach[k + d]! + 1;
      let x = d === 0 ? 0 : k === -d || (k !== d && right <= down) ? down : right;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      now[k + d + 1] = x;
      if (x >= a.length && x - k >= b.length) return walk([...trace, now], a, b);
    }
    trace.push(now);
    // The next turn has one more diagonal on each side.
    reach = new Int32Array(2 * d + 5).fill(-1);
    for (let k = -d; k <= d; k += 2) reach[k + d + 2] = now[k + d + 1]!;
  }
  return undefined;
}

// walk traces the furthest places back from the end.
function walk(trace: Int32Array[], a: string[], b: string[]): DiffPart[] {
  const parts: DiffPart[] = [];
  let x = a.length, y = b.length;
  for (let d = trace.length - 1; d >= 0; d--) {
    const k = x - y;
    let fromX = 0, fromY = 0;
    if (d > 0) {
      const at = (diagonal: number) => (Math.abs(diagonal) > d - 1 ? -1 : trace[d - 1]![diagonal + d]!);
      const kBefore = k === -d || (k !== d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
      fromX = at(kBefore);
      fromY = fromX - kBefore;
    }
    while (x > fromX && y > fromY) {
      parts.push({ kind: 'same', text: a[--x]! });
      y--;
    }
    if (d === 0) break;
    if (x > fromX) parts.push({ kind: 'expected', text: a[--x]! });
    else parts.push({ kind: 'actual', text: b[--y]! });
  }
  return parts.reverse();
}
