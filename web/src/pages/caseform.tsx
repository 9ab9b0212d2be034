// The form for a case. It keeps the entered text until it is saved, even if somebody else
// changes the dataset meanwhile.
import { useState } from 'preact/hooks';
import type { ChangedDataset, DatasetVersion, Problem, StoredDataset } from '../api';
import { ask, problemOf } from '../load';
import { plain, shorten } from '../text';
import { change } from '../url';
import { Mistakes, datasetAddress } from './datasets';

interface Variable { name: string; value: string }

// Draft is the entered text. The page keeps it, because the form is removed while another
// version is loaded or shown.
export interface Draft { id: string; about: string; vars?: Variable[]; expected: string; done: string; problem?: Problem }
export const noDraft: Draft = { id: '', about: '', expected: '', done: '' };

// asserts parses assertions: JSON, or one "type: value" per line.
export function asserts(text: string): unknown[] {
  if (text.trimStart().startsWith('[')) return JSON.parse(text) as unknown[];
  return text.split('\n').map((l) => l.trim()).filter(Boolean).map((line) => {
    const at = line.indexOf(':');
    return at < 0 ? { type: line } : { type: line.slice(0, at).trim(), value: line.slice(at + 1).trim() };
  });
}

export function CaseForm({ d, name, reload, draft, edit }: { d: StoredDataset; name: string; reload: () => void; draft: Draft; edit: (set: (before: Draft) => Draft) => void }) {
  const { id, about, expected, problem, done } = draft;
  const names = Object.keys(d.items[0]?.vars ?? {});
  const vars = draft.vars ?? (names.length ? names : ['']).slice(0, 20).map((n) => ({ name: n, value: '' }));
  const [busy, setBusy] = useState(false);
  const put = (part: Partial<Draft>) => edit((before) => ({ ...before, ...part }));
  const setVars = (list: Variable[]) => put({ vars: list });
  const set = (i: number, part: Partial<Variable>) => setVars(vars.map((v, k) => (k === i ? { ...v, ...part } : v)));
  const now = problem?.status === 409 ? (problem.current as DatasetVersion | undefined) : undefined;

  const save = async (version: string) => {
    setBusy(true);
    put({ done: '', problem: undefined });
    try {
      const assert = asserts(expected);
      if (!assert.length && !id.trim() && !about.trim() && vars.every((v) => !v.value)) {
        put({ problem: { type: '', title: 'Not saved', status: 422, detail: 'The case is empty. Write a value, an assertion, a description or an id.' } });
        setBusy(false);
        return;
      }
      const one = {
        ...(id.trim() ? { id: id.trim() } : {}), ...(about.trim() ? { description: about.trim() } : {}),
        vars: Object.fromEntries(vars.filter((v) => v.name.trim()).map((v) => [v.name.trim(), v.value])), ...(assert.length ? { assert } : {}),
      };
      const saved = await ask<ChangedDataset>('POST', datasetAddress(name) + '/cases', { cases: [one] }, undefined, { 'If-Match': '"' + version + '"' });
      if (saved.added) edit(() => ({ ...noDraft, vars: vars.map((v) => ({ ...v, value: '' })), done: 'Added ' + plain(shorten(saved.added![0]!, 80)) + '. This is version ' + saved.number + '.' }));
      else put({ done: 'The dataset has this case already.' });
      change({ version: '', after: '' }, true);
      reload();
    } catch (e) {
      put({ problem: e instanceof SyntaxError ? { type: '', title: 'Not saved', status: 422, detail: 'The assertions are not JSON: ' + e.message } : problemOf(e) });
    }
    setBusy(false);
  };

  return (
    <section aria-labelledby="addcase">
      <h3 id="addcase">Add a case</h3>
      <form class="caseform" onSubmit={(e) => { e.preventDefault(); void save(d.version); }}>
        <label class="field"><span>Description</span><input type="text" value={about} onInput={(e) => put({ about: e.currentTarget.value })} /></label>
        <fieldset>
          <legend>Variables</legend>
          {vars.map((v, i) => (
            <div class="variable" key={i}>
              <label class="field"><span>Name<span class="hidden"> of variable {i + 1}</span></span><input type="text" spellcheck={false} value={v.name} onInput={(e) => set(i, { name: e.currentTarget.value })} /></label>
              <label class="field"><span>Value<span class="hidden"> of variable {i + 1}</span></span><textarea rows={1} value={v.value} onInput={(e) => set(i, { value: e.currentTarget.value })} /></label>
              <button type="button" disabled={vars.length === 1} onClick={() => setVars(vars.filter((_, k) => k !== i))}>Remove<span class="hidden"> variable {i + 1}</span></button>
            </div>
          ))}
          <div class="buttons"><button type="button" onClick={() => setVars([...vars, { name: '', value: '' }])}>Add a variable</button></div>
        </fieldset>
        <label class="field"><span>Assertions: one per line, such as icontains: 30 days, or a JSON list</span><textarea rows={3} spellcheck={false} value={expected} onInput={(e) => put({ expected: e.currentTarget.value })} /></label>
        <label class="field"><span>Id (empty: derived from the content)</span><input type="text" spellcheck={false} autocomplete="off" maxLength={200} value={id} onInput={(e) => put({ id: e.currentTarget.value })} /></label>
        <div class="buttons"><button type="submit" disabled={busy}>Add case</button><span role="status">{done}</span></div>
        {problem && <Mistakes problem={problem} />}
        {now && (
          <div class="buttons">
            <p>What you typed is still here.</p>
            <button type="button" disabled={busy} onClick={() => { reload(); change({ version: '', after: '', from: String(d.number), to: String(now.number) }); }}>Show what changed</button>
            <button type="button" disabled={busy} onClick={() => void save(now.version)}>Add it to version {now.number}</button>
          </div>
        )}
      </form>
    </section>
  );
}
