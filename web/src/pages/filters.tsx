import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { change, usePlace } from '../url';

export function Field({ label, children }: { label: string; children: ComponentChildren }) {
  return <label class="field"><span>{label}</span>{children}</label>;
}

// Filters is a list's row of filters, with a button that clears them.
export function Filters({ active, clear, children }: { active: boolean; clear: string[]; children: ComponentChildren }) {
  return (
    <form class="filterrow" role="search" onSubmit={(e) => e.preventDefault()}>
      {children}
      {active && <button type="button" onClick={() => change(Object.fromEntries(clear.map((p) => [p, ''])))}>Clear filters</button>}
    </form>
  );
}

// Search is a list's text filter. The address follows the input after a moment.
export function Search({ label }: { label: string }) {
  const q = usePlace().query.get('q') ?? '';
  const [text, set] = useState(q);
  const timer = useRef(0);
  useEffect(() => { set(q); }, [q]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (value: string) => {
    set(value);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => change({ q: value, after: '', page: '' }, true), 200);
  };
  return <Field label={label}><input type="search" value={text} onInput={(e) => type(e.currentTarget.value)} /></Field>;
}
