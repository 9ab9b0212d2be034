// What a person typed, kept for the browser tab: it survives a reload, and ends with the tab
// and with the session, as everything in the session storage does.

export const most = 2_000_000; // UTF-16 units that one page keeps; browsers keep about 5 million for all

// typed returns what was kept under a name; undefined if there is nothing that can be read.
export function typed<T>(name: string): T | undefined {
  try {
    const text = sessionStorage.getItem('proviso.' + name);
    return text ? JSON.parse(text) as T : undefined;
  } catch {
    return undefined;
  }
}

// keep keeps a value, or with undefined nothing. It reports whether a reload will find it.
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
