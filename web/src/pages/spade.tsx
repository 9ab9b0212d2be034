// Assertions for the instructions of a prompt: proposed by rules, tried on outputs, and
// selected. The person's choices are in the address; pasted texts are kept for the tab.
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Prompt, Said, Session, SpadeAnswer, SpadeRequest } from '../api';
import { ask, get, useLoad, type Loaded } from '../load';
import { plural } from '../number';
import { CopyLink } from '../parts/actions';
import { Data, Empty, sentence } from '../parts/states';
import { plain, shorten } from '../text';
import { address, change, usePlace } from '../url';
import { Field, Filters, Search } from './filters';
import { Heading } from './heading';
import { every } from './items';
import { draft, examples, joined, keepDraft, kept, parts } from './spadedraft';
import { Candidates, History, Outputs, Sentences, Summary, Unchecked } from './spadeparts';
import { Save, SaveFile } from './spadesave';
import { Table, type Col } from './table';
// This import keeps what the frame shares with every page in one file.
import '../frame';

const listed = 500;

export default function Spade() {
  const { query } = usePlace();
  const name = query.get('prompt'), pasted = query.get('of') === 'texts';
  const loaded = useLoad((signal) => every<Prompt>('/v1/prompts?limit=1000', signal), []);
  if (pasted) return <Work key="texts" title="Pasted prompt" source={{}} />;
  if (name === null) return <Choose loaded={loaded} />;
  const suite = query.get('suite') ?? '';
  const crumb = <a href="/spade">Spade</a>;
  if (!loaded.data) return <><Heading title={shorten(name, 200)} crumb={crumb} /><Data of={loaded} what="the prompt">{() => null}</Data></>;
  const prompt = loaded.data.find((p) => p.name === name && (!suite || p.suite === suite));
  if (!prompt) return <><Heading title={shorten(name, 200)} crumb={crumb} /><Empty>No run has a prompt of this name. <a href="/spade">All prompts</a></Empty></>;
  return <Work key={prompt.suite + '\n' + name} title={name} source={{ prompt }} />;
}

const columns: Col<Prompt>[] = [
  { label: 'Prompt', wide: true, cell: (p) => <><a href={address('/spade', { prompt: p.name, suite: p.suite })}>{plain(shorten(p.name, 120))}</a><span class="sub muted">{plain(p.suite)}</span></> },
  { label: 'Versions', num: true, cell: (p) => p.versions.length },
  { label: 'Instructions matched', cell: (p) => (p.coverage.length ? p.coverage.filter((c) => c.assertions.length).length + ' of ' + p.coverage.length : <span class="muted">none found</span>) },
];

// Choose lists the prompts of the runs, and accepts pasted ones.
function Choose({ loaded }: { loaded: Loaded<Prompt[]> }) {
  const q = (usePlace().query.get('q') ?? '').toLowerCase();
  return (
    <>
      <Heading title="Spade"><CopyLink /></Heading>
      <p>Proposes assertions for what a prompt asks, tries them on outputs that you label good or bad, and selects the fewest that catch the bad ones. Rules do this: no model is asked.</p>
      <section aria-labelledby="ofruns"><h2 id="ofruns">Prompts of the latest runs</h2>
        <Filters active={!!q} clear={['q']}><Search label="Search names and texts" /></Filters>
        <Data of={loaded} what="prompts">{(all) => {
          if (!all.length) return <Empty command="proviso eval -c suite.yaml">No run has a prompt yet. Run a suite, or paste a prompt below.</Empty>;
          const found = all.filter((p) => (p.name + '\n' + (p.versions[0]?.text ?? '')).toLowerCase().includes(q));
          if (!found.length) return <Empty>No prompt matches this search. <button type="button" class="link" onClick={() => change({ q: '' })}>Clear filters</button></Empty>;
          return <Table caption="Prompts" cols={columns} rows={found.slice(0, listed)} id={(p) => p.suite + '\n' + p.name} />;
        }}</Data>
      </section>
      <Paste />
    </>
  );
}

// texts reads files in the order of their names, with numbers ordered by value.
const texts = async (list: FileList | null): Promise<File[]> => [...(list ?? [])].sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }));

function Paste() {
  const [versions, setVersions] = useState(draft.versions), [outputs, setOutputs] = useState(draft.outputs), [said, say] = useState('');
  const keep = (which: 'versions' | 'outputs', text: string) => { draft[which] = text; draft.names = []; keepDraft(); (which === 'versions' ? setVersions : setOutputs)(text); say(''); };
  const open = async (which: 'versions' | 'outputs', list: FileList | null) => {
    const files = await texts(list);
    if (!files.length) return;
    if (files.reduce((n, f) => n + f.size, 0) > 8 << 20) return say('The files have more than 8 MiB.');
    const read = await Promise.all(files.map((f) => f.text()));
    keep(which, which === 'versions' ? joined(read) : read.join('\n'));
    if (which === 'versions') { draft.names = files.map((f) => f.name); keepDraft(); }
  };
  const go_ = (e: Event) => {
    e.preventDefault();
    const read = examples(outputs);
    if (!parts(versions).length) return say('Paste at least one version of the prompt.');
    if (typeof read === 'string') return say(sentence(read));
    const ids = new Set(read.map((e) => e.id)); // a label for a missing output is a mistake
    draft.said = Object.fromEntries(Object.entries(draft.said).filter(([id]) => ids.has(id)));
    keepDraft();
    change({ of: 'texts', q: '', reject: '', keep: '', s: '' });
  };
  return (
    <section aria-labelledby="paste"><h2 id="paste">Another prompt</h2>
      <form class="paste" onSubmit={go_}>
        <div class="two">
          <div>
            <label class="field"><span>Versions of the prompt, oldest first, with a line --- between them</span><textarea rows={10} spellcheck={false} value={versions} onInput={(e) => keep('versions', e.currentTarget.value)} /></label>
            <label class="field"><span>Or open files, one for each version</span><input type="file" multiple onChange={(e) => open('versions', e.currentTarget.files)} /></label>
          </div>
          <div>
            <label class="field"><span>Outputs: JSON Lines with output, id and label, or texts with a line --- between them</span><textarea rows={10} spellcheck={false} value={outputs} onInput={(e) => keep('outputs', e.currentTarget.value)} /></label>
            <label class="field"><span>Or open a file of outputs</span><input type="file" accept=".jsonl,.json,.txt" onChange={(e) => open('outputs', e.currentTarget.files)} /></label>
          </div>
        </div>
        <p><button type="submit">Propose assertions</button> <span role="status">{said}</span></p>
        <p class="muted">The texts stay in this browser tab until it is closed or you log out{kept(versions, outputs) ? '' : '; they are too long to survive a reload'}. They are sent to this server, which does not store them.</p>
      </form>
    </section>
  );
}

// names parses a list in the address.
const names = (text: string | null): string[] => (text ? text.split(',') : []);

const number = (text: string | null, usual: number): number => (text === null || text === '' || !(+text >= 0 && +text <= 1) ? usual : +text);

interface Source { prompt?: Prompt }

// request returns the request to the server.
function request({ prompt }: Source, query: URLSearchParams, said: Record<string, Said>): SpadeRequest | string {
  const out: SpadeRequest = { reject: names(query.get('reject')), keep: names(query.get('keep')), alpha: number(query.get('alpha'), 0.6), tau: number(query.get('tau'), 0.25), labels: said };
  if (prompt) {
    const run = query.get('run') ?? prompt.versions[0]?.last_run ?? '';
    return { ...out, prompt: prompt.name, suite: prompt.suite, ...(run && run !== 'none' ? { run } : { labels: {} }) };
  }
  const read = examples(draft.outputs);
  if (typeof read === 'string') return read;
  return { ...out, versions: parts(draft.versions).map((text, i) => ({ text, name: draft.names[i] ?? '' })), examples: read };
}

function Work({ title, source }: { title: string; source: Source }) {
  const { query } = usePlace();
  const run = source.prompt ? query.get('run') ?? source.prompt.versions[0]?.last_run ?? 'none' : '';
  const said = useRef<Record<string, Record<string, Said>>>(source.prompt ? {} : { '': draft.said }); // by run, then by output
  const [, render] = useState(0);
  const session = useLoad((signal) => get<Session>('/v1/session', signal), []);
  const asked = useMemo(() => request(source, query, (said.current[run] ??= {})), [source, query, said.current[run]]);
  const body = typeof asked === 'string' ? '' : JSON.stringify(asked);
  const loaded = useKept(useLoad((signal) => ask<SpadeAnswer>('POST', '/v1/spade', JSON.parse(body), signal), [body]));
  const say = (id: string, label: Said) => { said.current[run] = { ...said.current[run], [id]: label }; if (!run) { draft.said = said.current['']!; keepDraft(); } render((n) => n + 1); };
  const suite = async () => (await ask<SpadeAnswer>('POST', '/v1/spade', { ...JSON.parse(body), cases: true })).suite ?? '';
  const crumb = <a href="/spade">Spade</a>;
  if (!source.prompt && !parts(draft.versions).length) return <><Heading title={title} crumb={crumb} /><Empty>There are no pasted texts in this browser tab. <a href="/spade">Paste them</a></Empty></>;
  if (typeof asked === 'string') return <><Heading title={title} crumb={crumb} /><Empty>{sentence(asked)} <a href="/spade">Change the outputs</a></Empty></>;
  const may = session.data?.scopes ?? [];
  const has = (scope: string) => may.includes(scope) || may.includes('admin');
  return (
    <>
      <Heading title={shorten(title, 200)} crumb={crumb}><CopyLink />{loaded.data && <SaveFile name="suite.yaml" text={suite}>Download suite</SaveFile>}</Heading>
      <Choices prompt={source.prompt} run={run} />
      {names(query.get('reject')).length + names(query.get('keep')).length > 0 && loaded.problem?.status === 422 && <p><button type="button" onClick={() => change({ reject: '', keep: '' })}>Forget what was accepted and rejected</button></p>}
      <Data of={loaded} what="assertions">{(a) => (
        <div class="spade" aria-busy={loaded.loading && loaded.problem === undefined ? 'true' : undefined}>
          <Summary a={a} />
          <div class="two">
            <section aria-labelledby="newest"><h2 id="newest">The newest version</h2><Sentences a={a} /></section>
            <section aria-labelledby="candidates"><h2 id="candidates">Candidates</h2><Candidates a={a} reject={names(query.get('reject'))} keep={names(query.get('keep'))} /></section>
          </div>
          <Outputs a={a} run={source.prompt && run !== 'none' ? run : ''} stores={!!source.prompt && has('label')} say={say} />
          <Unchecked a={a} />
          <History a={a} />
          <Save a={a} suite={suite} may={session.data?.mode === 'serve' && (has('evaluate') || has('edit'))} name={source.prompt?.suite || 'prompt'} />
        </div>
      )}</Data>
    </>
  );
}

// useKept keeps the last data while another request is loading.
function useKept<T>(loaded: Loaded<T>): Loaded<T> {
  const last = useRef<Loaded<T> | undefined>(undefined);
  if (loaded.data !== undefined) last.current = loaded;
  if (loaded.data !== undefined || !last.current) return loaded;
  const { data, since } = last.current;
  return { ...loaded, ...(data === undefined ? {} : { data }), ...(since === undefined ? {} : { since }) };
}

// Choices are the outputs and the thresholds.
function Choices({ prompt, run }: { prompt: Prompt | undefined; run: string }) {
  const { query } = usePlace();
  const runs = [...new Set((prompt?.versions ?? []).flatMap((v) => [v.last_run, v.first_run]))].slice(0, 100);
  if (run && run !== 'none' && !runs.includes(run)) runs.push(run);
  const share = (label: string, param: string, usual: number) => (
    <Field label={label}><input type="number" min="0" max="1" step="0.05" value={query.get(param) ?? String(usual)} onChange={(e) => change({ [param]: +e.currentTarget.value === usual ? '' : e.currentTarget.value }, true)} /></Field>
  );
  return (
    <form class="filterrow" onSubmit={(e) => e.preventDefault()}>
      {prompt && <Field label="Outputs of the run"><select value={run} onChange={(e) => change({ run: e.currentTarget.value, reject: '', keep: '' })}>{runs.map((id) => <option key={id} value={id}>{plain(id)}</option>)}<option value="none">none</option></select></Field>}
      {share('Bad outputs to catch, at least', 'alpha', 0.6)}
      {share('Good outputs that may fail, at most', 'tau', 0.25)}
      {!prompt && <span class="muted">{plural(parts(draft.versions).length, 'pasted version')}. <a href="/spade">Change the texts</a></span>}
    </form>
  );
}
