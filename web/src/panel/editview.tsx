// Assertions to write and edit, each with its lint findings below.
import type { ComponentChildren } from 'preact';
import type { Criterion, Finding } from '../../panel/panel';
import { count, plural } from '../number';
import { plain, shorten } from '../text';
import { textOf, type Edit, type Item } from './edit';
import { Pager, pageFrom } from './pager';

const shown = 20, mostCriteria = 30, longest = 100_000; // assertions on a page, criteria of one, UTF-16 units of a text

// More is what the surrounding page adds to the form of an assertion, beside its buttons.
export type More = (item: Item) => ComponentChildren;

export function EditView({ edit, more }: { edit: Edit; more?: More }) {
  const from = pageFrom(edit.items.length, edit.page, shown);
  const found = edit.items.reduce((n, i) => n + i.found.length, 0);
  return (
    <>
      <div class="head"><b>Assertions</b> <span class="num">{count(edit.items.length)}{edit.checked && edit.items.length > 0 && (found ? ` · ${plural(found, 'finding')}` : ' · no findings about the wording')}</span></div>
      {edit.linting && <div class="problem" role="alert"><p>The wording could not be checked: {plain(shorten(edit.linting, 500))}</p><button onClick={() => edit.later(0)}>Try again</button></div>}
      {edit.items.slice(from, from + shown).map((item) => <One key={item.key} item={item} edit={edit} more={more} />)}
      <Pager of={edit.items.length} from={from} size={shown} turn={(to) => { edit.page = to; edit.changed(); }} />
      <div class="actions">
        <button onClick={(e) => {
          const key = edit.add(), root = e.currentTarget.getRootNode() as ShadowRoot;
          edit.page = Math.floor((edit.items.length - 1) / shown);
          requestAnimationFrame(() => root.getElementById('instruction-' + key)?.focus());
        }}>Add an assertion</button>
        {edit.removed && <span class="muted">Removed {plain(shorten(String(edit.removed.item.value.id), 60))}. <button class="link" onClick={() => edit.undo()}>Undo</button></span>}
      </div>
    </>
  );
}

function One({ item, edit, more: around }: { item: Item; edit: Edit; more: More | undefined }) {
  const { value: a, key } = item, criteria = Array.isArray(a.criteria) ? a.criteria : [];
  const set = (at: number, to: Criterion) => edit.set(item, { criteria: criteria.map((c, i) => (i === at ? to : c)) });
  const at = (prefix: string) => item.found.filter((f) => f.pointer === prefix || f.pointer?.startsWith(prefix + '/'));
  const shownAt = new Set([...criteria.keys()].flatMap((i) => at('/criteria/' + i)));
  const rest = item.found.filter((f) => !shownAt.has(f));
  const name = plain(shorten(String(a.id), 60));
  const more = Object.keys(a).filter((k) => !['id', 'instruction', 'criteria', around && 'check'].includes(k));
  return (
    <div class="form" role="group" aria-label={'Assertion ' + name}>
      <label class="wide" for={'id-' + key}>Name</label>
      <Field id={'id-' + key} of={a.id} line set={(id) => edit.set(item, { id })} />
      <label class="wide" for={'instruction-' + key}>What the agent is told</label>
      <Field id={'instruction-' + key} of={a.instruction ?? ''} set={(instruction) => edit.set(item, { instruction })} />
      <fieldset>
        <legend>Criteria: each is true or false of the output</legend>
        {criteria.slice(0, mostCriteria).map((c, i) => {
          const text = textOf(c);
          return (
            <div key={i}>
              <div class="one">
                {text === undefined
                  ? <code class="text">{plain(shorten(JSON.stringify(c), 300))}</code>
                  : <Field label={`Criterion ${i + 1} of ${name}`} of={text} set={(to) => set(i, typeof c === 'string' ? to : { ...c, text: to })} />}
                <button aria-label={`Remove criterion ${i + 1} of ${name}`} onClick={() => edit.set(item, { criteria: criteria.filter((_, j) => j !== i) })}>✕</button>
              </div>
              <Findings of={at('/criteria/' + i)} />
            </div>
          );
        })}
        {criteria.length > mostCriteria && <p class="muted">and {count(criteria.length - mostCriteria)} more criteria</p>}
      </fieldset>
      {more.length > 0 && <p class="muted">Also has {plain(shorten(more.join(', '), 200))}, which stay as they are.</p>}
      <Findings of={rest} />
      <div class="actions">
        {criteria.length < mostCriteria && <button onClick={() => edit.set(item, { criteria: [...criteria, ''] })}>Add a criterion</button>}
        {around?.(item)}
        <button onClick={() => edit.remove(item)}>Remove<span class="hidden"> {name}</span></button>
      </div>
    </div>
  );
}

function Field({ of, set, id, label, line }: { of: string; set: (to: string) => void; id?: string; label?: string; line?: boolean }) {
  if (of.length > longest) return <p class="muted" id={id}>{plain(shorten(of, 200))} ({count(of.length)} characters: too long to be edited here)</p>;
  const of_ = { id, 'aria-label': label, value: of, spellcheck: true };
  return line ? <input {...of_} spellcheck={false} onInput={(e) => set(e.currentTarget.value)} /> : <textarea {...of_} rows={2} onInput={(e) => set(e.currentTarget.value)} />;
}

function Findings({ of }: { of: Finding[] }) {
  return (
    <>
      {of.slice(0, 5).map((f, i) => (
        <p key={i} class="finding"><b>{f.rule ? plain(shorten(String(f.rule), 40)) : 'mistake'}:</b> {plain(shorten(f.message, 500))}{f.suggestion && <span class="muted">; write: {plain(shorten(String(f.suggestion), 500))}</span>}</p>
      ))}
    </>
  );
}
