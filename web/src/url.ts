// The state of a page is its address: the path names the page, the query has the filters. A
// report is one file, so its state is behind the # instead.
import { useEffect, useState } from 'preact/hooks';

export interface Place { path: string; query: URLSearchParams }

let inHash = false;

// keepInHash makes a report keep its state behind the #.
export function keepInHash(): void { inHash = true; }

export function here(): Place {
  if (inHash) return { path: '', query: new URLSearchParams(location.hash.slice(1)) };
  return { path: location.pathname, query: new URLSearchParams(location.search) };
}

const listeners = new Set<() => void>();
addEventListener('popstate', () => listeners.forEach((f) => f()));
addEventListener('hashchange', () => listeners.forEach((f) => f()));

// decoded decodes a part of a path. It returns a malformed part unchanged, which the server
// then rejects.
export function decoded(part: string): string {
  try { return decodeURIComponent(part); } catch { return part; }
}

// address returns the link to a place, without empty parameters.
export function address(path: string, query: URLSearchParams | Record<string, string | undefined> = {}): string {
  const kept = new URLSearchParams();
  const entries = query instanceof URLSearchParams ? [...query] : Object.entries(query);
  for (const [name, value] of entries) if (value) kept.append(name, value);
  const text = kept.toString();
  if (inHash) return '#' + text;
  return path + (text ? '?' + text : '');
}

// go opens a place. With replace, it replaces the current entry of the history, as typing
// in a search field should.
export function go(to: string, replace = false): void {
  if (replace) history.replaceState(null, '', to);
  else history.pushState(null, '', to);
  listeners.forEach((f) => f());
}

// usePlace returns the current place, and renders again when it changes.
export function usePlace(): Place {
  const [place, set] = useState(here);
  useEffect(() => {
    const changed = () => set(here());
    listeners.add(changed);
    changed();
    return () => { listeners.delete(changed); };
  }, []);
  return place;
}

// change sets some parameters of the current place; '' removes one.
export function change(params: Record<string, string>, replace = false): void {
  const { path, query } = here();
  for (const [name, value] of Object.entries(params)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  go(address(path, query), replace);
}

// follow handles clicks on links within the app. It leaves other tabs and downloads to the
// browser.
export function follow(event: MouseEvent): void {
  const link = (event.target as Element).closest('a');
  if (!link || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (inHash || link.target || link.hasAttribute('download') || link.origin !== location.origin || link.dataset.native !== undefined) return;
  if (link.pathname.startsWith('/v1/') || link.pathname === '/docs' || link.pathname === '/openapi.json') return;
  event.preventDefault();
  go(link.pathname + link.search + link.hash);
}
