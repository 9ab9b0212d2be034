// A run on the server: its data, and its changes as they happen.
import { goesOn, type BatchJudge, type Detail, type Found, type Matrix, type Preview, type Run } from './api';
import { follow } from './follow';
import { get } from './load';
import type { RunSource } from './source';

// pace is the minimum time between two calls of a watcher, in milliseconds. Each call
// reloads the matrix.
const pace = 2000;

// runAddress is the address of a run in the API.
export const runAddress = (id: string): string => '/v1/runs/' + encodeURIComponent(id);

export class HttpSource implements RunSource {
  private readonly at: string;
  private readonly watchers = new Set<() => void>();
  private stop: AbortController | undefined;
  private timer = 0;
  private called = 0;
  private asked: Promise<Run> | undefined;
  private ended = false;
  private whole: Promise<Matrix> | undefined;

  constructor(id: string) { this.at = runAddress(id); }

  // run loads the run once for concurrent callers, and caches a run that has ended. It
  // omits the results by assertion: the server would compute them from every row, and the
  // matrix has them.
  run(): Promise<Run> {
    return (this.asked ??= get<Run>(this.at + '?results=no').then(
      (run) => {
        this.ended = !goesOn(run.status);
        if (!this.ended) this.asked = undefined;
        return run;
      },
      (e: unknown) => { this.asked = undefined; throw e; },
    ));
  }

  // judges loads each judge's work in a run that has ended. The server reads every row for
  // it.
  judges(signal: AbortSignal): Promise<BatchJudge[]> { return get<Run>(this.at, signal).then((run) => run.judges ?? []); }

  // matrix loads the matrix, and caches that of a run that has ended.
  matrix(): Promise<Matrix> {
    if (this.whole) return this.whole;
    const loading = get<Matrix>(this.at + '/matrix');
    if (this.ended) {
      this.whole = loading;
      loading.catch(() => { this.whole = undefined; });
    }
    return loading;
  }

  previews(index: number[], signal?: AbortSignal): Promise<Preview[]> { return get(this.at + '/previews?index=' + index.join(','), signal); }
  detail(index: number, signal?: AbortSignal): Promise<Detail> { return get(this.at + '/results/' + index + '/detail', signal); }
  search(text: string, signal: AbortSignal): Promise<Found> { return get(this.at + '/search?q=' + encodeURIComponent(text), signal); }

  // watch opens one stream for all watchers, unless the run has ended.
  watch(changed: () => void): () => void {
    if (this.ended) return () => undefined;
    this.watchers.add(changed);
    if (!this.stop) void this.follow(this.stop = new AbortController());
    return () => {
      this.watchers.delete(changed);
      if (this.watchers.size || !this.stop) return;
      this.stop.abort();
      this.stop = undefined;
      clearTimeout(this.timer);
      this.timer = 0;
    };
  }

  // follow notifies the watchers of each event, until the run has ended.
  private async follow(stop: AbortController): Promise<void> {
    for await (const event of follow(this.at, stop.signal)) {
      if (event.reply) return;
      this.call();
      if (event.name === 'end') return;
    }
  }

  // call notifies the watchers at once, or as soon as the pace allows.
  private call(): void {
    if (this.timer) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      this.called = Date.now();
      this.watchers.forEach((f) => f());
    }, Math.max(0, this.called + pace - Date.now()));
  }
}
