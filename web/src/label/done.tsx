// The person's labels in a queue, newest first.
import { useState } from 'preact/hooks';
import type { Said } from '../api';
import { count, when } from '../number';
import { plain, shorten } from '../text';
import { words, type Desk, type Done } from './desk';

const signs: Record<Said, [string, string]> = { pass: ['pass', '✓'], fail: ['fail', '✕'], unsure: ['unsure', '?'] };

export function DoneList({ desk, chosen, open }: { desk: Desk; chosen: string; open: (d: Done) => void }) {
  const [shown, show] = useState(50), [busy, work] = useState(false);
  if (!desk.done.length) return null;
  const older = () => {
    show(shown + 50);
    if (shown + 50 <= desk.done.length || !desk.more) return;
    work(true);
    desk.older().catch(() => undefined).finally(() => work(false));
  };
  return (
    <details class="donelist">
      <summary>Your labels <span class="muted num">{count(desk.done.length)}{desk.more && ' and more'}</span></summary>
      <ul>
        {desk.done.slice(0, shown).map((d) => {
          const [tone, sign] = signs[d.label.label];
          return (
            <li key={d.label.id}>
              <button type="button" class="plain" aria-current={d.label.id === chosen ? 'true' : undefined} onClick={() => open(d)}>
                <span class={'said-' + tone}><span aria-hidden="true">{sign} </span>{words[d.label.label]}</span>
                <span>{plain(shorten(d.label.case || d.label.id, 60))}</span>
                <span class="muted">{plain(shorten(d.label.assertion || 'the whole output', 60))}{d.label.judged && d.label.label !== 'unsure' && d.label.judged !== d.label.label && ' · the judge said ' + d.label.judged}</span>
                <span class="muted num">{when(d.label.created)}</span>
              </button>
            </li>
          );
        })}
      </ul>
      {(shown < desk.done.length || desk.more) && <button type="button" disabled={busy} onClick={older}>Older</button>}
    </details>
  );
}
