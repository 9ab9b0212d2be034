// What a page shows without data: loading, empty, no match, or a failure. Partial data
// stays on the page with a note.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Problem } from '../api';
import type { Loaded } from '../load';

// Skeleton reserves the space of what is loading. It appears after 150 ms, so that quick
// pages do not flicker.
export function Skeleton({ rows = 8, what }: { rows?: number; what: string }) {
  const [shown, show] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => show(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div class={shown ? 'skeleton' : 'skeleton quiet'} role="status" aria-busy="true">
      <span class="hidden">Loading {what}</span>
      {Array.from({ length: rows }, (_, i) => <div key={i} class="line" />)}
    </div>
  );
}

// Empty shows that there is nothing, and how to create something.
export function Empty({ children, command }: { children: ComponentChildren; command?: string }) {
  return (
    <div class="empty">
      <p>{children}</p>
      {command && <pre tabIndex={0}>{command}</pre>}
    </div>
  );
}

// sentence formats a server message as a sentence, with a capital letter and a period.
export const sentence = (message: string): string => message.slice(0, 1).toUpperCase() + message.slice(1) + (/[.!?]$/.test(message) ? '' : '.');

// Failed shows what could not be loaded, and offers a retry.
export function Failed({ problem, retry }: { problem: Problem; retry?: () => void }) {
  return (
    <div class="problem" role="alert">
      <p>{problem.status === 404 ? <strong>{sentence(problem.detail)}</strong> : <><strong>{problem.title}.</strong> {problem.detail !== problem.title && sentence(problem.detail)}</>}</p>
      {retry && <button type="button" onClick={retry}>Try again</button>}
    </div>
  );
}

// Data shows loaded data, or the loading state. Data that could not be reloaded stays, with
// the time at which it was loaded.
export function Data<T>({ of, what, children }: { of: Loaded<T>; what: string; children: (data: T) => ComponentChildren }) {
  if (of.data === undefined) return of.problem ? <Failed problem={of.problem} retry={of.retry} /> : <Skeleton what={what} />;
  return (
    <>
      {of.problem && <div class="stale" role="status">As of {of.since?.toLocaleTimeString('en', { hour12: false })}: {of.problem.detail} <button type="button" onClick={of.retry}>Try again</button></div>}
      {children(of.data)}
    </>
  );
}
