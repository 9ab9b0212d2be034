// Lint findings on the wording of an assertion while it is edited.
import { useEffect, useState } from 'preact/hooks';
import { Failure, ask } from '../load';
import { plain, shorten } from '../text';

export interface Finding { rule?: string; pointer?: string; message: string; suggestion?: string }
interface Linted { items: { findings: Finding[] }[] }

const quiet = 300; // milliseconds without input before the wording is checked

// useWording checks an assertion after a pause in typing. Pointers refer to the assertion.
// Without an assertion there is nothing to check.
export function useWording(assertion: Record<string, unknown> | undefined): { found: Finding[]; failed: string } {
  const [state, set] = useState<{ found: Finding[]; failed: string }>({ found: [], failed: '' });
  const body = assertion && JSON.stringify({ assertions: [assertion] });
  useEffect(() => {
    if (!body) { set({ found: [], failed: '' }); return; }
    const stop = new AbortController();
    const timer = setTimeout(() => {
      const take = (list: Finding[]) => set({ found: list.map((f) => ({ ...f, pointer: (f.pointer ?? '').replace(/^\/assertions\/0/, '') })), failed: '' });
      ask<Linted>('POST', '/v1/lint', JSON.parse(body), stop.signal).then((l) => take(l.items.flatMap((i) => i.findings)), (e: unknown) => {
        if (stop.signal.aborted) return;
        const errors = e instanceof Failure ? e.problem.errors : undefined;
        if (errors?.length) take(errors.map((x) => ({ pointer: x.pointer ?? '', message: x.message })));
        else set((s) => ({ ...s, failed: e instanceof Error ? e.message : String(e) }));
      });
    }, quiet);
    return () => { clearTimeout(timer); stop.abort(); };
  }, [body]);
  return state;
}

// Findings lists findings below the text concerned.
export function Findings({ of, label }: { of: Finding[]; label: string }) {
  if (!of.length) return null;
  return (
    <ul class="findings plainlist" aria-label={label}>
      {of.slice(0, 5).map((f, i) => <li key={i} class="finding"><b>{f.rule ? plain(shorten(f.rule, 40)) : 'mistake'}:</b> {plain(shorten(f.message, 500))}{f.suggestion && <span class="muted">; write: {plain(shorten(f.suggestion, 500))}</span>}</li>)}
    </ul>
  );
}
