// Notes on an item: whether the answer is saved, and who holds the item.
import { useEffect, useReducer } from 'preact/hooks';
import type { LabelItem, Said } from '../api';
import { keyOf } from './api';
import { words, type Desk, type Held } from './desk';

const warned = 60_000; // milliseconds before the end of a lease at which the warning appears

export function State({ desk, item, held, answer }: { desk: Desk; item: LabelItem; held?: Held; answer: (said: Said) => void }) {
  const pending = desk.pending(keyOf(item)), others = desk.outbox.length - (pending ? 1 : 0);
  return (
    <div class="notes" role="status">
      {pending?.problem && (
        <p class="problem">
          <strong>Not saved yet: {words[pending.body.label]}.</strong> {pending.problem.status === 401 ? 'Your session has ended. Log in: the answer is kept, and is sent then.' : pending.problem.status === 0 ? 'The server does not reply. The answer is kept, and is sent again.' : pending.problem.detail + ' The answer is kept, and is sent again.'}{' '}
          <button type="button" onClick={() => void desk.flush()}>Send now</button>
        </p>
      )}
      {desk.refused && <p class="problem"><strong>Not saved: {desk.refused.title}.</strong> {desk.refused.detail}. What you typed is still here.</p>}
      {others > 0 && <p class="problem">{others === 1 ? 'A label' : others + ' labels'} of another item {others === 1 ? 'is' : 'are'} not sent yet. <button type="button" onClick={() => void desk.flush()}>Send now</button></p>}
      {held && desk.elsewhere && (
        <p class="stale"><strong>You labelled this item in another window: {words[desk.elsewhere]}.</strong> What you typed here is kept. An answer here replaces that one.{' '}
          <button type="button" onClick={() => void desk.advance()}>Next item</button>{desk.draft(keyOf(item)).note && <> <button type="button" onClick={() => answer(desk.elsewhere!)}>Send {words[desk.elsewhere]} with this note</button></>}</p>
      )}
      {held && !desk.elsewhere && !pending && <Lease desk={desk} held={held} />}
    </div>
  );
}

// Lease warns that the lease will end soon, or that it has ended.
function Lease({ desk, held }: { desk: Desk; held: Held }) {
  const [, tick] = useReducer((n: number) => n + 1, 0);
  const left = held.until - Date.now(), lost = held.lost || left <= 0;
  useEffect(() => {
    if (!held.lease || held.lost || !Number.isFinite(held.until)) return;
    const wait = left > warned ? left - warned : left > 0 ? Math.min(10_000, left) : 0;
    if (!wait) return;
    const timer = setTimeout(() => tick(undefined), Math.min(wait + 20, 1 << 30));
    return () => clearTimeout(timer);
  });
  if (!held.lease || (!lost && left > warned)) return null;
  if (lost) return <p class="stale">Your reservation of this item has ended, so somebody else may get it too. Your answer still counts.{!held.lost && <> <button type="button" onClick={() => desk.touch()}>Keep it</button></>}</p>;
  return <p class="stale">This item is reserved for you for {Math.ceil(left / 10_000) * 10} s more; typing keeps it. <button type="button" onClick={() => desk.touch()}>Keep it</button></p>;
}
