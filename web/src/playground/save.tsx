// Exports of the playground: a stored set, a case of a dataset, a run of a suite.
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Assertion } from '../../panel/panel';
import type { ChangedDataset, StoredSet, StoredVersion } from '../api';
import { ask, Failure, get, useLoad, useTask } from '../load';
import { plural, when } from '../number';
import { items, type Items } from '../pages/items';
import { setAddress, storedSet } from '../pages/storedset';
import { Failed } from '../parts/states';
import { plain, shorten, Text } from '../text';
import { change, go } from '../url';
import { baseOf, written, type Play } from './play';
import type { Props } from './prompt';
import { names, valueOf } from './template';

const valid = /^(?!\.)[\w.-]{1,100}$/;
const rule = 'A name has 1 to 100 letters, digits, dots, dashes and underscores, and does not begin with a dot.';

// useSaving runs one request at a time and reports its result.
function useSaving() {
  const task = useTask('It was not saved'), [said, say] = useState<ComponentChildren>('');
  const run = (f: () => Promise<ComponentChildren>) => task.run(async () => {
    say('');
    say(await f());
  });
  return { ...task, said, run };
}

function Named({ label, of, set, list, options, children, submit }: { label: string; of: string; set: (to: string) => void; list: string; options: string[]; children: ComponentChildren; submit: () => void }) {
  return (
    <form class="filterrow" onSubmit={(e) => { e.preventDefault(); submit(); }}>
      <label class="field"><span>{label}</span><input list={list} value={of} spellcheck={false} autocomplete="off" onInput={(e) => set(e.currentTarget.value.trim())} /></label>
      <datalist id={list}>{options.slice(0, 200).map((o) => <option key={o} value={o} />)}</datalist>
      {children}
    </form>
  );
}

function Outcome({ of: { problem, said } }: { of: ReturnType<typeof useSaving> }) {
  const errors = problem?.errors?.slice(0, 5);
  return <>{problem && <><Failed problem={problem} />{errors && errors.length > 1 && <ul>{errors.map((e, i) => <li key={i}><code>{plain(shorten(e.pointer ?? '', 100))}</code> {plain(shorten(e.message, 300))}</li>)}</ul>}</>}<p role="status">{said}</p></>;
}

export function SaveSet({ state }: Props) {
  const { draft: d } = state, saving = useSaving(), [theirs, clash] = useState<StoredSet>();
  const name = d.named.set || (d.base?.name ?? '');
  const mine = (): Assertion[] => state.edit.value().flatMap((a) => written(a) ?? []);
  // put stores the set, if the version that it replaces is still current.
  const put = async (replaces: string): Promise<ComponentChildren> => {
    const prompt = d.base?.name === name ? d.base.prompt && d.prompt : '';
    const body = { ...(d.base?.name === name ? d.base.rest : {}), assertions: mine(), ...(prompt ? { prompt } : {}) };
    try {
      const saved = await ask<StoredSet>('PUT', setAddress(name), body, undefined, replaces ? { 'If-Match': '"' + replaces + '"' } : { 'If-None-Match': '*' });
      clash(undefined);
      state.set({ base: { ...baseOf({ ...saved, assertions: state.edit.value(), prompt }), rest: { ...(d.base?.name === name ? d.base.rest : {}) } }, named: { ...d.named, set: name } });
      change({ set: name }, true);
      return `Saved as version ${saved.number} of ${saved.name}.`;
    } catch (e) {
      if (!(e instanceof Failure) || e.problem.status !== 409) throw e;
      clash(await storedSet<StoredSet>(setAddress(name)));
      return '';
    }
  };
  const save = () => saving.run(async () => {
    clash(undefined);
    if (!valid.test(name)) throw new Failure({ type: '', title: 'The name cannot be used', status: -1, detail: rule });
    if (!mine().length) throw new Failure({ type: '', title: 'There is nothing to save', status: -1, detail: 'There are no assertions.' });
    if (d.base?.name === name) return put(d.base.version);
    const there = await storedSet<StoredSet>(setAddress(name));
    if (!there) return put('');
    clash(there);
    return '';
  });
  return (
    <div>
      <Named label="Name of the set" of={name} set={(set) => { clash(undefined); state.set({ named: { ...d.named, set } }); }} list="sets" options={[]} submit={save}>
        <button type="submit" disabled={saving.busy || !name}>Save as set</button>
      </Named>
      {theirs && <Clash theirs={theirs} mine={mine()} over={() => void saving.run(() => put(theirs.version))}
        take={() => { state.takeSet(theirs); clash(undefined); change({ set: theirs.name }, true); }} leave={() => clash(undefined)} />}
      <Outcome of={saving} />
    </div>
  );
}

// Clash shows both versions where they differ.
function Clash({ theirs, mine, over, take, leave }: { theirs: StoredSet; mine: Assertion[]; over: () => void; take: () => void; leave: () => void }) {
  const ids = [...new Set([...theirs.assertions, ...mine].map((a) => a.id))];
  const text = (of: Assertion[], id: string) => of.filter((a) => a.id === id).map((a) => JSON.stringify(a, null, 1)).join('\n');
  const differ = ids.map((id) => ({ id, theirs: text(theirs.assertions, id), mine: text(mine, id) })).filter((x) => x.theirs !== x.mine);
  return (
    <div class="problem" role="alert">
      <p><strong>Somebody else changed {plain(theirs.name)}, or a set with this name exists already.</strong> Its current version is {theirs.number}, of {when(theirs.created_at)}{theirs.created_by && ', by ' + plain(theirs.created_by)}. Nothing was saved, and what you wrote is still here.</p>
      {differ.length === 0 ? <p>The assertions are the same, perhaps in another order.</p> : (
        <div class="versions">
          {differ.slice(0, 20).map((x) => (
            <div key={x.id} class="pair">
              <div><h3>Stored: {plain(shorten(x.id, 80))}</h3>{x.theirs ? <Text of={shorten(x.theirs, 5000)} /> : <p class="muted">It has no such assertion.</p>}</div>
              <div><h3>Yours: {plain(shorten(x.id, 80))}</h3>{x.mine ? <Text of={shorten(x.mine, 5000)} /> : <p class="muted">It has no such assertion.</p>}</div>
            </div>
          ))}
          {differ.length > 20 && <p class="muted">and {plural(differ.length - 20, 'more assertion')} that differ</p>}
        </div>
      )}
      <p class="filterrow"><button type="button" onClick={over}>Save mine as the next version</button><button type="button" onClick={take}>Take the stored ones</button><button type="button" onClick={leave}>Decide later</button></p>
    </div>
  );
}

export function SaveCase({ state }: Props) {
  const { draft: d } = state, saving = useSaving();
  const listed = useLoad((signal) => get<Items<StoredVersion>>('/v1/datasets?limit=1000', signal).then(items, (e: unknown) => { if (e instanceof Failure && (e.problem.status === 404 || e.problem.status === 403)) return undefined; throw e; }), [saving.said]);
  const set = (to: Partial<Play['draft']['named']>) => state.set({ named: { ...d.named, ...to } });
  const save = () => saving.run(async () => {
    const name = d.named.dataset;
    if (!valid.test(name)) throw new Failure({ type: '', title: 'The name cannot be used', status: -1, detail: rule });
    const used = names(d.prompt), vars = used.length ? Object.fromEntries(used.map((n) => [n, valueOf(d.vars, n)])) : { input: d.input };
    const cases = [{ ...(d.named.description ? { description: d.named.description } : {}), vars }], at = '/v1/datasets/' + encodeURIComponent(name);
    let saved: ChangedDataset;
    try {
      saved = await ask<ChangedDataset>('POST', at + '/cases', { cases });
    } catch (e) {
      if (!(e instanceof Failure) || e.problem.status !== 404) throw e;
      saved = await ask<ChangedDataset>('PUT', at, { cases }, undefined, { 'If-None-Match': '*' });
    }
    if (saved.known) return `${saved.name} has this case already.`;
    return `Saved: ${saved.name} has ${plural(saved.cases, 'case')} now (version ${saved.number}).`;
  });
  return (
    <div>
      <Named label="Dataset" of={d.named.dataset} set={(dataset) => set({ dataset })} list="datasets" options={(listed.data ?? []).map((s) => s.name)} submit={save}>
        <label class="field"><span>Description of the case</span><input value={d.named.description} onInput={(e) => set({ description: e.currentTarget.value })} /></label>
        <button type="submit" disabled={saving.busy || !d.named.dataset}>Save as case</button>
      </Named>
      <Outcome of={saving} />
    </div>
  );
}

export function RunSuite() {
  const saving = useSaving(), chosen = useRef<HTMLSelectElement>(null);
  const suites = useLoad((signal) => get<Items<StoredVersion>>('/v1/suites?limit=1000', signal).then(items), []);
  const start = () => saving.run(async () => {
    const { id } = await ask<{ id: string }>('POST', '/v1/suites/' + encodeURIComponent(chosen.current!.value) + '/runs', {});
    go('/runs/' + encodeURIComponent(id));
    return '';
  });
  if (suites.problem && !suites.data) return <Failed problem={suites.problem} retry={suites.retry} />;
  if (!suites.data?.length) return suites.data ? <p class="muted">There are no stored suites to run.</p> : null;
  return (
    <div>
      <form class="filterrow" onSubmit={(e) => { e.preventDefault(); void start(); }}>
        <label class="field"><span>Suite</span><select ref={chosen}>{suites.data.slice(0, 500).map((s) => <option key={s.name} value={s.name}>{s.name}</option>)}</select></label>
        <button type="submit" disabled={saving.busy}>Run the suite</button>
      </form>
      <Outcome of={saving} />
    </div>
  );
}
