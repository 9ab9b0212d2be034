// The keys of the run view, and the option to turn single-key shortcuts off.
import { useEffect, useRef, useState } from 'preact/hooks';

const stored = 'proviso.keys';

function remembered(): boolean {
  try { return localStorage.getItem(stored) !== 'off'; } catch { return true; }
}

// useKeys returns whether single-key shortcuts are on. The browser remembers the choice if
// storage is available.
export function useKeys(): [boolean, (on: boolean) => void] {
  const [on, set] = useState(remembered);
  return [on, (value) => {
    set(value);
    try {
      if (value) localStorage.removeItem(stored);
      else localStorage.setItem(stored, 'off');
    } catch { /* It holds until the page is closed. */ }
  }];
}

// typing reports whether key presses go into a field.
export function typing(target: EventTarget | null): boolean {
  const el = target as HTMLElement | null;
  return !!el && (el.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(el.tagName));
}

const keys: [string, string][] = [
  ['↑ ↓ ← →', 'Move in the matrix'], ['Home End', 'First or last column'], ['Ctrl Home, Ctrl End', 'First or last case'], ['Page Up, Page Down', 'Previous or next page of cases'],
  ['Enter', 'Open the case; in the column heads: filter by the column'], ['Esc', 'Close the case'], ['J K', 'Next or previous failing cell'], ['/', 'Search'], ['?', 'Show these keys'],
];

// KeysHint is the line under the matrix with the most useful keys.
export function KeysHint() {
  return <p class="hint muted"><kbd>↑ ↓ ← →</kbd> move <kbd>Enter</kbd> opens <kbd>J</kbd> <kbd>K</kbd> next, previous failing cell <kbd>/</kbd> search <kbd>?</kbd> all keys</p>;
}

// KeysDialog lists keys, by default those of the run view, and turns single-key shortcuts
// off; singles names them.
export function KeysDialog({ shown, hide, on, set, list = keys, singles = 'J, K, / and ?' }: { shown: boolean; hide: () => void; on: boolean; set: (on: boolean) => void; list?: [string, string][]; singles?: string }) {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (shown && !box.current!.open) box.current!.showModal();
  }, [shown]);
  if (!shown) return null;
  return (
    <dialog ref={box} class="keys" aria-labelledby="keys-title" onClose={hide}>
      <h2 id="keys-title">Keys</h2>
      <dl>{list.map(([key, does]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{does}</dd></div>)}</dl>
      <p><label><input type="checkbox" checked={on} onChange={(e) => set(e.currentTarget.checked)} /> Single-key shortcuts ({singles})</label></p>
      <button type="button" onClick={() => box.current!.close()}>Close</button>
    </dialog>
  );
}
