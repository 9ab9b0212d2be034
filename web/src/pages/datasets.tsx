// Datasets: named cases on the server.
import { useState } from 'preact/hooks';
import type { ChangedDataset, DatasetVersion, Page, Problem, Session } from '../api';
import { ask, get, useLoad, useTask } from '../load';
import { count, plural, when } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty } from '../parts/states';
import { plain } from '../text';
import { address, change, decoded, go, usePlace } from '../url';
import { One } from './dataset';
import { Field, Filters, Search } from './filters';
import { Heading } from './heading';
import { Table, type Col } from './table';

const all = '/v1/datasets?limit=1000';

export const datasetAddress = (name: string): string => '/v1/datasets/' + encodeURIComponent(name);
export const datasetPage = (name: string): string => '/datasets/' + encodeURIComponent(name);

export default function Datasets() {
  const part = /^\/datasets\/([^/]+)/.exec(usePlace().path);
  if (!part) return <List />;
  return <One key={part[1]} name={decoded(part[1]!)} />;
}

// Mistakes shows why a change was rejected: each mistake, with the nearest valid name.
export function Mistakes({ problem }: { problem: Problem }) {
  const list = problem.errors ?? [];
  return (
    <div class="problem" role="alert">
      <p><strong>{problem.status === 409 ? 'Changed by somebody else' : 'Not saved'}.</strong> {list.length > 1 ? plural(list.length, 'mistake') + ':' : plain(problem.detail || problem.title)}</p>
      {list.length > 1 && <ul>{list.slice(0, 20).map((m, i) => <li key={i}><code>{plain(m.pointer)}</code> {plain(m.message)}{m.nearest && '; did you mean "' + plain(m.nearest) + '"?'}</li>)}</ul>}
      {list.length === 1 && list[0]!.nearest && <p>Did you mean “{plain(list[0]!.nearest)}”?</p>}
    </div>
  );
}

const columns: Col<DatasetVersion>[] = [
  { label: 'Dataset', wide: true, cell: (d) => <a href={datasetPage(d.name)}>{plain(d.name)}</a> },
  { label: 'Cases', num: true, cell: (d) => count(d.cases) },
  { label: 'Version', num: true, cell: (d) => d.number },
  { label: 'Changed', cell: (d) => <span class="nowrap">{when(d.created_at)}</span> },
  { label: 'Size', num: true, cell: (d) => size(d.size) },
];

export const size = (bytes: number): string => (bytes < 10_000 ? count(bytes) + ' bytes' : bytes < 1e7 ? count(Math.round(bytes / 1000)) + ' kB' : count(Math.round(bytes / 1e6)) + ' MB');

// useEdits returns whether this browser may change datasets; undefined while that is
// unknown.
export function useEdits(): { edits?: boolean; why?: string } {
  const session = useLoad((signal) => get<Session>('/v1/session', signal), []).data;
  if (!session) return {};
  if (session.mode === 'view') return { edits: false, why: 'proviso view shows runs of this machine and keeps no datasets. proviso serve does.' };
  const edits = session.scopes.includes('edit') || session.scopes.includes('admin');
  return edits ? { edits } : { edits, why: 'You can read datasets. To change them, log in with a key that has the scope edit.' };
}

function List() {
  const { query } = usePlace();
  const { edits, why } = useEdits();
  const q = (query.get('q') ?? '').toLowerCase(), run = query.get('run');
  const loaded = useLoad((signal) => get<Page<DatasetVersion>>(all, signal), []);
  return (
    <>
      <Heading title="Datasets"><CopyLink /><Download href={all} name="datasets.json">Download JSON</Download></Heading>
      {why && <p class="remark" role="status">{why}</p>}
      {run && edits && <Data of={loaded} what="datasets">{(page) => <FromRun key={run} run={run} list={page.items} />}</Data>}
      {!run && <Filters active={!!q} clear={['q']}><Search label="Search names" /></Filters>}
      {!run && <Data of={loaded} what="datasets">{(page) => {
        const found = page.items.filter((d) => d.name.toLowerCase().includes(q));
        if (!page.items.length) return why ? <Empty>There are no datasets.</Empty> : <Empty command="proviso datasets push NAME cases.yaml">There are no datasets yet. Make one below, push a file of cases, or add the failures of a run on its page.</Empty>;
        if (!found.length) return <Empty>No dataset has such a name. <button type="button" class="link" onClick={() => change({ q: '' })}>Clear filters</button></Empty>;
        return <><p class="counted muted" role="status">{plural(found.length, 'dataset')}{page.next && ', and more'}</p><Table caption="Datasets" cols={columns} rows={found} id={(d) => d.name} /></>;
      }}</Data>}
      {!run && edits && <New />}
    </>
  );
}

// create makes an empty dataset, unless one with this name exists.
const create = (name: string) => ask<DatasetVersion>('PUT', datasetAddress(name), { cases: [] }, undefined, { 'If-None-Match': '*' });

function New() {
  const [name, set] = useState(''), { busy, problem, run } = useTask();
  const submit = (e: Event) => {
    e.preventDefault();
    void run(() => create(name.trim()).then(() => go(datasetPage(name.trim()))));
  };
  return (
    <section aria-labelledby="new">
      <h2 id="new">New dataset</h2>
      <form class="filterrow" onSubmit={submit}>
        <Field label="Name"><input type="text" required maxLength={100} spellcheck={false} autocomplete="off" value={name} onInput={(e) => set(e.currentTarget.value)} /></Field>
        <button type="submit" disabled={busy}>Make dataset</button>
      </form>
      {problem && <Mistakes problem={problem} />}
    </section>
  );
}

// FromRun adds a run's failures to an existing or a new dataset.
function FromRun({ run, list }: { run: string; list: DatasetVersion[] }) {
  const [to, choose] = useState(list[0]?.name ?? ''), [fresh, setFresh] = useState('');
  const { busy, problem, run: task } = useTask(), [done, setDone] = useState<ChangedDataset>();
  const page = '/runs/' + encodeURIComponent(run);
  const submit = (e: Event) => {
    e.preventDefault();
    setDone(undefined);
    void task(async () => {
      const name = to || fresh.trim();
      if (!to) await create(name);
      choose(name);
      setDone(await ask<ChangedDataset>('POST', datasetAddress(name) + '/cases', { run, status: ['fail', 'error'] }));
    });
  };
  const names = [...new Set([...list.map((d) => d.name), ...(to ? [to] : [])])];
  return (
    <section aria-labelledby="add">
      <h2 id="add">Add the failures of a run</h2>
      <p>The cases of run <a href={page}><code>{plain(run)}</code></a> with a fail or an error become cases of the dataset, each once.</p>
      <form class="filterrow" onSubmit={submit}>
        <Field label="Dataset"><select value={to} onChange={(e) => choose(e.currentTarget.value)}>{names.map((n) => <option key={n} value={n}>{plain(n)}</option>)}<option value="">A new one</option></select></Field>
        {!to && <Field label="Name of the new dataset"><input type="text" required maxLength={100} spellcheck={false} autocomplete="off" value={fresh} onInput={(e) => setFresh(e.currentTarget.value)} /></Field>}
        <button type="submit" disabled={busy}>Add failures</button>
        <a class="button" href="/datasets">All datasets</a>
      </form>
      {problem && <Mistakes problem={problem} />}
      <div role="status">{done && <Done d={done} />}</div>
    </section>
  );
}

function Done({ d }: { d: ChangedDataset }) {
  const added = d.added?.length ?? 0;
  return (
    <div class="remark">
      <p>{added ? plural(added, 'case') + ' added' : 'Nothing was added'}{added === 1000 && ' or more'}{d.known ? '; ' + count(d.known) + (d.known === 1 ? ' was' : ' were') + ' in the dataset already' : ''}. <a href={datasetPage(d.name)}>{plain(d.name)}, version {d.number}</a> has {plural(d.cases, 'case')}.</p>
      {d.left_out && <><p>A dataset holds no code. Left out:</p><ul>{d.left_out.map((text, i) => <li key={i}>{plain(text)}</li>)}</ul></>}
    </div>
  );
}

export const versionAt = (name: string, query: URLSearchParams): string => address(datasetAddress(name), { version: query.get('version') ?? '', after: query.get('after') ?? '' });
