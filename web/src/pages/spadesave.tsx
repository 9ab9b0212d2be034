// Exports of the page: files, and the selection as an assertion set on the server.
import { useState } from 'preact/hooks';
import type { SpadeAnswer } from '../api';
import { Failure } from '../load';
import { saveText } from '../parts/actions';
import { sentence } from '../parts/states';
import { plain } from '../text';
import { putSet, setAddress, storedSet, type Stored } from './storedset';

// SaveFile downloads a text that the page has or requests.
export function SaveFile({ name, text, children }: { name: string; text: string | (() => Promise<string>); children: string }) {
  const [busy, setBusy] = useState(false), [said, say] = useState('');
  const save = async () => {
    setBusy(true);
    say('');
    try {
      saveText(name, typeof text === 'string' ? text : await text());
    } catch (e) {
      say('Not saved: ' + (e instanceof Failure ? e.message : String(e)));
    }
    setBusy(false);
  };
  return <><button type="button" disabled={busy} onClick={() => void save()}>{children}</button><span role="status">{plain(said)}</span></>;
}

// ofSet converts a candidate to an assertion of a set: the check has the members of the
// suite's assertion except the id and the description.
function ofSet({ id, description, config, ...check }: Record<string, unknown>): Record<string, unknown> {
  return { id, ...(description ? { instruction: description } : {}), check: { ...check, ...(config ? { config } : {}) } };
}

// Save stores the selection under a name. An existing set gets a new version only after a
// second click.
export function Save({ a, suite, may, name: usual }: { a: SpadeAnswer; suite: () => Promise<string>; may: boolean; name: string }) {
  const [name, set] = useState(usual.toLowerCase().replace(/[^a-z0-9._-]+/g, '-').replace(/^-+|-+$/g, '') || 'prompt');
  const [there, setThere] = useState<{ name: string; set: Stored | undefined }>(), [said, say] = useState(''), [busy, setBusy] = useState(false);
  const chosen = new Set(a.selection?.chosen ?? []);
  const save = async (e: Event) => {
    e.preventDefault();
    const at = setAddress(name);
    setBusy(true);
    say('');
    try {
      const before = there?.name === name ? there.set : await storedSet(at);
      if (before && there?.name !== name) {
        setThere({ name, set: before });
        say('A set of this name exists. Saving replaces all its assertions.');
      } else {
        const stored = await putSet(at, before, a.candidates.filter((c) => chosen.has(c.name)).map((c) => ofSet(c.assertion)), a.history.at(-1)?.text ?? '');
        setThere(undefined);
        say('Saved as version ' + (stored.number ?? 1) + ' of the set ' + name + '.');
      }
    } catch (e) {
      setThere(undefined);
      say(sentence(e instanceof Failure ? e.message : String(e)));
    }
    setBusy(false);
  };
  return (
    <section aria-labelledby="save"><h2 id="save">Use the selection</h2>
      <p>The suite has the newest version as its prompt, the selected assertions, and the outputs above as cases: run it with <code>proviso eval -c suite.yaml</code>. A suite that you have takes the assertions with <code>assertions: file://selected.yaml</code>.</p>
      <p class="filterrow"><SaveFile name="suite.yaml" text={suite}>Download suite</SaveFile><SaveFile name="selected.yaml" text={a.assertions}>Download assertions</SaveFile></p>
      {may ? (
        <form class="filterrow" onSubmit={save}>
          <label class="field"><span>Name of the assertion set</span><input required value={name} onInput={(e) => set(e.currentTarget.value)} /></label>
          <button type="submit" disabled={busy || !chosen.size}>{there?.name === name ? 'Save as a new version' : 'Save as set'}</button>
          <span role="status">{plain(said)}</span>
        </form>
      ) : <p class="muted">Sets are saved on a server, with a key that has the scope evaluate or edit.</p>}
    </section>
  );
}
