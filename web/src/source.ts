// Where the data of a run come from: the server, or the report that holds them.
import type { Detail, Found, Matrix, Preview, Run } from './api';

export interface RunSource {
  run(): Promise<Run>;
  matrix(): Promise<Matrix>;
  previews(index: number[], signal?: AbortSignal): Promise<Preview[]>;
  detail(index: number, signal?: AbortSignal): Promise<Detail>;
  search(text: string, signal: AbortSignal): Promise<Found>;
  // watch calls changed while the run is running; the returned function ends it.
  watch(changed: () => void): () => void;
}
