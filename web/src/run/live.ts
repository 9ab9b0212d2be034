// The matrix and the run, reloaded while the run is running.
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
  // A change during a load causes another load afterwards, so that every load completes.
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
  // The search texts are computed before the first key press.
  useEffect(() => {
    const timer = setTimeout(() => { if (matrix) texts(matrix); }, 400);
    return () => clearTimeout(timer);
  }, [matrix]);
  return { loaded, model };
}

// useList returns the matching cases. While the run is running, listed cases keep their
// places, and new ones are appended.
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

// appended puts new cases after the existing ones.
function appended(before: Uint32Array, now: Uint32Array, cases: number): Uint32Array {
  const had = new Uint8Array(cases), out = new Uint32Array(before.length + now.length);
  let n = 0;
  for (const c of before) if (c < cases) { had[c] = 1; out[n++] = c; }
  for (const c of now) if (!had[c]) out[n++] = c;
  return out.subarray(0, n);
}
