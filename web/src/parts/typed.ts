// Entered text, kept for the browser tab. It survives a reload, and ends with the tab and
// with the session, as everything in session storage.

export const most = 2_000_000; // UTF-16 units kept by one page; browsers keep about 5 million in total

// typed returns the value kept under a name; undefined if there is none that can be parsed.
export function typed<T>(name: string): T | undefined {
  try {
    const text = sessionStorage.getItem('proviso.' + name);
    return text ? JSON.parse(text) as T : undefined;
  } catch {
    return undefined;
  }
}

// keep stores a value, or deletes it if it is undefined. It reports whether it will survive
// a reload.
export function keep(name: string, value: unknown): boolean {
  try {
    const text = value === undefined ? '' : JSON.stringify(value);
    if (text && text.length <= most) sessionStorage.setItem('proviso.' + name, text);
    else sessionStorage.removeItem('proviso.' + name);
    return text.length <= most;
  } catch {
    try { sessionStorage.removeItem('proviso.' + name); } catch { /* Storage is not allowed. */ }
    return false;
  }
}
