// What leaves the page: files, and the selection as an assertion set of the server.
import { useState } from 'preact/hooks';
import type { SpadeAnswer } from '../api';
import { Failure } from '../load';
import { sentence } from '../parts/states';
import { plain } from '../text';
import { putSet, storedSet } from './storedset';

// SaveFile downloads a text that the page has.
export function SaveFile({ name, text, children }: { name: string; text: string; children: string }) {
  const save = () => {
    const url = URL.createObjectURL(new Blob([text], { type: 'text/plain;charset=utf-8' }));
    const link = Object.assign(document.createElement('a'), { href: url, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  };
  return <button type="button" onClick={save}>{children}</button>;
}

// ofSet is a candidate as an assertion of a set: the check has what a suite writes beside
// the id.
function ofSet({ id, description, config, ...check }: Record<string, unknown>): Record<string, unknown> {
  return { id, ...(description ? { instruction: description } : {}), check: { ...check, ...(config ? { config } : {}) } };
}

// Save stores the selection under a name. A set of this name gets a new version only after
// a second click.
export function Save({ a, may, name: usual }: { a: SpadeAnswer; may: boolean; name: string }) {
  const [name, set] = useState(usual.toLowerCase().replace(/[^a-z0-9._-]+/g, '-').replace(/^-+|-+$/g, '') || 'prompt');
  const [there, setThere] = useState<{ name: string; set: Awaited<ReturnType<typeof storedSet>> }>(), [said, say] = useState(''), [busy, setBusy] = useState(false);
  const chosen = new Set(a.selection?.chosen ?? []);
  const save = async (e: Event) => {
    e.preventDefault();
    const at = '/v1/assertion-sets/' + encodeURIComponent(name);
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
      <p>A suite takes the downloaded file with <code>assertions: file://selected.yaml</code>.</p>
      <p class="filterrow"><SaveFile name="selected.yaml" text={a.suite}>Download assertions</SaveFile></p>
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
