// The sources of a run's data: the server, or the report that contains it.
import type { Detail, Found, Matrix, Preview, Run } from './api';

export interface RunSource {
  run(): Promise<Run>;
  matrix(): Promise<Matrix>;
  previews(index: number[], signal?: AbortSignal): Promise<Preview[]>;
  detail(index: number, signal?: AbortSignal): Promise<Detail>;
  search(text: string, signal: AbortSignal): Promise<Found>;
  // watch calls changed for changes while the run is running; the returned function stops
  // that.
  watch(changed: () => void): () => void;
}
