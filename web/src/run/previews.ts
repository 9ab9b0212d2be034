// Previews of rows for cells: loaded for the visible rows, with one request per window.
import type { Preview } from '../api';
import type { RunSource } from '../source';

const most = 400, kept = 4000;

export class Previews {
  version = 0; // increases with each loaded preview
  private known = new Map<number, Preview>();
  private timer = 0;
  private abort?: AbortController;
  private waiting = '';
  private wanted = new Map<string, number[]>(); // rows, by the part of the view that shows them
  constructor(private source: RunSource, private changed: () => void) {}

  get(row: number): Preview | undefined { return this.known.get(row); }

  // want loads the previews of the rows in a part of the view once scrolling pauses. One
  // request covers all parts. A part that no longer shows rows wants [].
  want(part: string, rows: number[]): void {
    this.wanted.set(part, rows);
    const missing = [...new Set([...this.wanted.values()].flat())].filter((r) => r >= 0 && !this.known.has(r)).slice(0, most);
    const key = missing.join();
    if (missing.length === 0 || key === this.waiting) return;
    this.waiting = key;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.load(missing), 80) as unknown as number;
  }

  private async load(rows: number[]): Promise<void> {
    this.abort?.abort();
    const abort = (this.abort = new AbortController());
    try {
      const previews = await this.source.previews(rows, abort.signal);
      if (abort.signal.aborted) return;
      for (const p of previews) this.known.set(p.index, p);
      for (const old of this.known.keys()) {
        if (this.known.size <= kept) break;
        this.known.delete(old);
      }
      this.version++;
      this.changed();
    } catch {
      // The cells stay without a preview, and the next window retries.
    } finally {
      if (this.abort === abort) this.waiting = '';
    }
  }

  stop(): void {
    clearTimeout(this.timer);
    this.abort?.abort();
  }
}
