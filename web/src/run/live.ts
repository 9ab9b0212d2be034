// The matrix and the run, loaded again while the run is running.
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Matrix, Run } from '../api';
import { useLoad, type Loaded } from '../load';
import type { RunSource } from '../source';
import { decode, filter, order, texts, type Filter, type Model } from './model';

export interface Live { loaded: Loaded<{ matrix: Matrix; run: Run }>; model: Model | undefined }

export function useLive(source: RunSource): Live {
  const loaded = useLoad(async () => {
    const [run, matrix] = await Promise.all([source.run(), source.matrix()]);
    return { run, matrix };
  }, [source]);
  // What changes while data load is loaded afterwards, so that every load ends.
  const busy = useRef(true), again = useRef(false), retry = useRef(loaded.retry);
  retry.current = loaded.retry;
  busy.current = loaded.loading;
  useEffect(() => source.watch(() => {
    if (busy.current) again.current = true;
    else retry.current();
  }), [source]);
  useEffect(() => {
    if (loaded.loading || !again.current) return;
    again.current = false;
    loaded.retry();
  }, [loaded.loading]);
  const matrix = loaded.data?.matrix;
  const model = useMemo(() => matrix && decode(matrix), [matrix]);
  // What search looks at is made before the first key is typed.
  useEffect(() => {
    const timer = setTimeout(() => { if (matrix) texts(matrix); }, 400);
    return () => clearTimeout(timer);
  }, [matrix]);
  return { loaded, model };
}

// useList returns the cases that match. While the run is running, cases that are listed
// keep their places, and others are appended.
export function useList(model: Model | undefined, f: Filter, worstFirst: boolean): Uint32Array {
  const kept = useRef<{ key: string; found: unknown; list: Uint32Array }>({ key: '', found: undefined, list: new Uint32Array(0) });
  const sorted = useMemo(() => (model ? order(model, worstFirst) : new Uint32Array(0)), [model, worstFirst]);
  return useMemo(() => {
    if (!model) return new Uint32Array(0);
    const list = filter(model, sorted, f), key = JSON.stringify([f.status, f.assertion, f.text, f.column, worstFirst]), before = kept.current;
    const stay = model.matrix.status === 'running' && before.key === key && before.list.length > 0;
    kept.current = { key, found: f.found, list: stay ? appended(before.list, list, model.cases) : list };
    return kept.current.list;
  }, [model, sorted, f.status, f.assertion, f.text, f.column, f.found, f.broke]);
}

// appended puts what is new after what was there.
function appended(before: Uint32Array, now: Uint32Array, cases: number): Uint32Array {
  const had = new Uint8Array(cases), out = new Uint32Array(before.length + now.length);
  let n = 0;
  for (const c of before) if (c < cases) { had[c] = 1; out[n++] = c; }
  for (const c of now) if (!had[c]) out[n++] = c;
  return out.subarray(0, n);
}
