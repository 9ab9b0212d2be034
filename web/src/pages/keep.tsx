// Saves a changed assertion: as a new version of an assertion set, or as YAML to copy.
import { useState } from 'preact/hooks';
import type { Definition, TrialResult } from '../api';
import { Failure } from '../load';
import { plain } from '../text';
import { Field } from './filters';
import { putSet, setAddress, storedSet } from './storedset';

// The members that an assertion of a set may have.
const members = ['id', 'instruction', 'criteria', 'check', 'description', 'type', 'weight', 'severity', 'scope'];

// yaml formats an assertion for a suite. Texts and structures are JSON, which is valid
// YAML.
export function yaml(d: Definition): string {
  return '- ' + Object.entries(d).map(([key, v]) => (Array.isArray(v) ? key + ':\n' + v.map((e) => '    - ' + JSON.stringify(e)).join('\n') : key + ': ' + JSON.stringify(v))).join('\n  ') + '\n';
}

export function Keep({ result, name, judge, context = '' }: { result: TrialResult; name: string; judge?: string | undefined; context?: string | undefined }) {
  const d = result.definition, judged = d.type === undefined || d.type === 'judge' || d.type === 'not-judge';
  const [set, setSet] = useState(name), [said, say] = useState(''), [busy, setBusy] = useState(false);
  const fixed = context !== '' && !context.includes('{{'); // a set's context has no variables
  const keep = async () => {
    setBusy(true);
    say('');
    try {
      const at = setAddress(set);
      const mine = Object.fromEntries(members.filter((m) => d[m] !== undefined).map((m) => [m, d[m]]));
      const before = await storedSet(at), list = before?.assertions ?? [], there = list.some((a) => a.id === mine.id);
      const kept = await putSet(at, before, there ? list.map((a) => (a.id === mine.id ? { ...a, ...mine } : a)) : [...list, mine], before?.prompt, before?.context || (fixed ? context : undefined));
      say(`Kept as version ${kept.number} of the set ${plain(set)}.` + (fixed && before?.context && before.context !== context ? ' The set has another context, which stays.' : ''));
    } catch (e) {
      say('Not kept: ' + (e instanceof Failure ? plain(e.problem.detail) : String(e)));
    }
    setBusy(false);
  };
  const copy = () => navigator.clipboard.writeText(yaml(d)).then(() => say('Copied'), () => say('Not copied: select the text'));
  return (
    <section aria-labelledby="keep">
      <h2 id="keep">Keep</h2>
      {judged && <form class="filterrow" onSubmit={(e) => { e.preventDefault(); void keep(); }}>
        <Field label="Assertion set"><input type="text" required value={set} onInput={(e) => setSet(e.currentTarget.value)} /></Field>
        <button type="submit" disabled={busy || !set}>Keep as a version of the set</button>
      </form>}
      <p class="said" role="status">{said}</p>
      {context && <p class="muted">{fixed ? 'The context becomes that of the set, unless the set has one. ' : 'The context differs between cases: send it with each evaluation. '}A suite has no context.</p>}
      <p class="muted">For a suite, copy this into its assertions.{judge && ' The model is not part of an assertion: name it under judge in the suite, or start the server with --judge.'} <button type="button" class="link" onClick={() => void copy()}>Copy YAML</button></p>
      <pre tabIndex={0} aria-label="The assertion as YAML">{plain(yaml(d))}</pre>
    </section>
  );
}
