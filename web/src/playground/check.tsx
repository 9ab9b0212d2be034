// What this page adds to the panel's form for an assertion: its position, and a check by
// code.
import { useState } from 'preact/hooks';
import type { Item } from '../panel/edit';
import { plain, shorten } from '../text';
import type { Play } from './play';

export function Check({ item, state }: { item: Item; state: Play }) {
  const { check } = item.value, held = check === undefined ? '' : JSON.stringify(check, null, 1);
  const [typed, type] = useState<string>(), [wrong, say] = useState(''), [open, show] = useState(false);
  const at = state.edit.items.indexOf(item), name = plain(shorten(String(item.value.id), 60));
  const set = (text: string) => {
    type(text);
    if (!text.trim()) {
      delete item.value.check;
      say('');
      return state.edit.set(item, {});
    }
    try {
      const value: unknown = JSON.parse(text);
      if (!value || typeof value !== 'object' || Array.isArray(value)) throw new SyntaxError('expected an object, such as {"type": "contains", "value": "refund"}');
      say('');
      if (!item.value.criteria?.some((c) => c !== '')) delete item.value.criteria; // a check has no criteria
      state.edit.set(item, { check: value });
    } catch (e) {
      say((e as Error).message);
    }
  };
  return (
    <>
      <button type="button" disabled={at <= 0} onClick={() => state.move(item, -1)} aria-label={'Move ' + name + ' up'}>↑</button>
      <button type="button" disabled={at < 0 || at >= state.edit.items.length - 1} onClick={() => state.move(item, 1)} aria-label={'Move ' + name + ' down'}>↓</button>
      {!open && held === '' && typed === undefined ? <button type="button" onClick={() => show(true)}>Check by code<span class="hidden"> for {name}</span></button> : (
        <div class="check-code">
          <label class="field"><span>Check by code, as JSON</span>
            <textarea class="code" rows={3} spellcheck={false} placeholder={'{"type": "word-count", "value": {"max": 40}}'} value={typed ?? held} onInput={(e) => set(e.currentTarget.value)} />
          </label>
          {wrong && <p class="finding" role="status">This is not a valid check yet: {plain(shorten(wrong, 300))}</p>}
        </div>
      )}
    </>
  );
}
