// The prompt, and what the answer must satisfy.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Prompt as Stored, StoredVersion } from '../api';
import { Failure, get, problemOf, useLoad } from '../load';
import { count, when } from '../number';
import { items, type Items } from '../pages/items';
import { EditView } from '../panel/editview';
import { Failed } from '../parts/states';
import { plain, shorten, Text } from '../text';
import { change, usePlace } from '../url';
import { Check } from './check';
import type { Play } from './play';
import { instructions, names, preview, valueOf } from './template';

export interface Props { state: Play }

const longest = 200_000; // maximum UTF-16 units of a field's text

// Area is a text field.
export function Area({ label, of, set, rows, hint, code }: { label: string; of: string; set: (to: string) => void; rows: number; hint?: string; code?: boolean }) {
  if (of.length > longest) return <div class="field"><span>{label}</span><p class="muted">{count(of.length)} characters: too long to be edited here. <button type="button" class="link" onClick={() => set('')}>Clear</button></p></div>;
  return <label class="field"><span>{label}{hint && <small>: {hint}</small>}</span><textarea rows={rows} class={code ? 'code' : ''} value={of} spellcheck={!code} onInput={(e) => set(e.currentTarget.value)} /></label>;
}

// Replaced reports that texts were replaced, and offers to restore them.
export function Replaced({ state }: Props) {
  return (
    <div role="status">
      {state.undo && <p class="remark">{plain(shorten(state.undo.what, 300))} <button type="button" class="link" onClick={() => state.back()}>Undo</button> <button type="button" class="link" onClick={() => { state.undo = undefined; state.changed(); }}>Dismiss</button></p>}
      {state.full && <p class="remark bad">The texts are too long for the browser to keep. They are lost when the page is loaded again.</p>}
    </div>
  );
}

export function Prompt({ state }: Props) {
  const { draft: d } = state, { query } = usePlace();
  const stored = useLoad((signal) => get<Items<Stored>>('/v1/prompts?limit=1000', signal).then(items), []);
  const asked = query.get('prompt') ?? '', suite = query.get('suite') ?? '', of = asked && suite + '\n' + asked;
  const found = stored.data?.find((p) => p.name === asked && p.suite === suite);
  useEffect(() => {
    const text = found?.versions[0]?.text;
    if (text === undefined || d.promptOf === of) return;
    if (d.prompt && d.prompt !== text) state.replace('The prompt here was replaced by ' + asked + '.', { prompt: text, promptOf: of });
    else state.set({ prompt: text, promptOf: of });
  }, [of, found]);
  const used = useMemo(() => names(d.prompt), [d.prompt]);
  const [seen, see] = useState(false);
  const choose = (value: string) => {
    const [s = '', n = ''] = value.split('\n');
    if (!value) state.set({ promptOf: '' });
    change({ suite: s, prompt: n });
  };
  return (
    <section class="asks-model" aria-labelledby="prompt">
      <h2 id="prompt">Prompt</h2>
      {stored.problem && <Failed problem={stored.problem} retry={stored.retry} />}
      {stored.data && stored.data.length > 0 && (
        <label class="field"><span>Prompt of a run</span>
          <select value={found ? of : ''} onChange={(e) => choose(e.currentTarget.value)}>
            <option value="">none: a prompt of your own</option>
            {stored.data.slice(0, 500).map((p) => <option key={p.suite + '\n' + p.name} value={p.suite + '\n' + p.name}>{plain(shorten(p.name, 80))}{p.suite && ' (' + plain(shorten(p.suite, 60)) + ')'}</option>)}
          </select>
        </label>
      )}
      {stored.data && asked && !found && <p class="remark bad">No run has the prompt {plain(shorten(asked, 100))}. What is below stays.</p>}
      <Area label="Text" hint="{{name}} is a variable, {{ assertions.instructions }} the list of instructions below" of={d.prompt} set={(prompt) => state.set({ prompt })} rows={8} />
      {found && d.promptOf === of && d.prompt !== found.versions[0]?.text && (
        <p class="muted">Changed. <button type="button" class="link" onClick={() => state.replace('Your prompt was replaced by the stored one.', { prompt: found.versions[0]!.text })}>Back to the stored text</button></p>
      )}
      {used.length > 0 ? used.map((n) => <Area key={n} label={n} of={valueOf(d.vars, n)} set={(to) => state.set({ vars: { ...d.vars, [n]: to } })} rows={2} />)
        : <Area label="Input" hint="what the user says; the prompt has no variables" of={d.input} set={(input) => state.set({ input })} rows={2} />}
      {d.prompt && <p><button type="button" class="link" aria-expanded={seen} onClick={() => see(!seen)}>{seen ? 'Hide the preview' : 'Preview with these values'}</button></p>}
      {seen && d.prompt && <Seen state={state} />}
    </section>
  );
}

function Seen({ state }: Props) {
  const { draft: d } = state, p = preview(d.prompt, d.vars, instructions(state.edit.value(), d.vars));
  return (
    <>
      <div class="output" role="region" aria-label="Preview of the prompt" tabIndex={0}><Text of={shorten(p.text, 20_000)} /></div>
      {!p.whole && <p class="muted">The preview fills in plain variables only. The server renders the rest.</p>}
    </>
  );
}

export function Assertions({ state }: Props) {
  const { query } = usePlace(), name = query.get('set') ?? '', { base } = state.draft;
  const sets = useLoad((signal) => get<Items<StoredVersion>>('/v1/assertion-sets?limit=1000', signal).then(items), [base?.version]);
  const [failure, fail] = useState<Failure>();
  const [turn, again] = useState(0);
  useEffect(() => {
    fail(undefined);
    if (!name && base) change({ set: base.name }, true); // keeps the source of the texts in the address
    if (!name || base?.name === name) return;
    const stop = new AbortController();
    state.open(name, stop.signal).catch((e: unknown) => { if (!stop.signal.aborted) fail(new Failure(problemOf(e, 'The set cannot be read'))); });
    return () => stop.abort();
  }, [name, turn]);
  const choose = (to: string) => {
    if (!to) state.set({ base: undefined });
    change({ set: to });
  };
  const listed = sets.data ?? [];
  return (
    <section aria-labelledby="promises">
      <h2 id="promises">Assertions</h2>
      {sets.problem && <Failed problem={sets.problem} retry={sets.retry} />}
      {(listed.length > 0 || name) && (
        <label class="field"><span>Stored set</span>
          <select value={name} onChange={(e) => choose(e.currentTarget.value)}>
            <option value="">none: assertions of your own</option>
            {listed.slice(0, 500).map((s) => <option key={s.name} value={s.name}>{s.name}</option>)}
            {name && !listed.some((s) => s.name === name) && <option value={name}>{plain(shorten(name, 100))}</option>}
          </select>
        </label>
      )}
      {failure && <Failed problem={failure.problem} retry={() => again(turn + 1)} />}
      {base && base.name === name && <p class="muted">Version {base.number}{stamp(listed, base.name)}{state.edited ? <>, changed here. <button type="button" class="link" onClick={() => void state.open(name, new AbortController().signal).catch((e: unknown) => { if (e instanceof Failure) fail(e); })}>Back to the stored version</button></> : '.'}</p>}
      <div class="editor"><EditView edit={state.edit} more={(item) => <Check key={item.key} item={item} state={state} />} /></div>
    </section>
  );
}

const stamp = (of: StoredVersion[], name: string): string => {
  const s = of.find((s) => s.name === name);
  return s ? ' of ' + when(s.created_at) : '';
};
