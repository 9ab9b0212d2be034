// One dataset: its versions, its cases, and the differences between two versions.
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Case, ChangedDataset, DatasetDiff, DatasetVersion, Page, StoredDataset } from '../api';
import { ask, get, useLoad, useTask } from '../load';
import { count, plural, when } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty } from '../parts/states';
import { keep, typed } from '../parts/typed';
import { Text, plain, shorten } from '../text';
import { address, change, usePlace } from '../url';
import { CaseForm, noDraft, type Draft } from './caseform';
import { Mistakes, datasetAddress, size, useEdits, versionAt } from './datasets';
import { wordDiff } from './diff';
import { Field } from './filters';
import { Heading } from './heading';
import { Words } from './pair';
import { Table, type Col } from './table';

export function One({ name }: { name: string }) {
  const { query } = usePlace();
  const at = datasetAddress(name), here = versionAt(name, query);
  const loaded = useLoad((signal) => get<StoredDataset>(here, signal), [here]);
  const [turn, setTurn] = useState(0), [draft, edit] = useState<Draft>(() => ({ ...noDraft, ...typed<Draft>('case/' + name) }));
  useLayoutEffect(() => { // not after the next paint: a reload would lose the last input
    const { problem: _, done: __, ...texts } = draft;
    keep('case/' + name, texts.id || texts.about || texts.expected || texts.vars?.some((v) => v.value) ? texts : undefined);
  }, [draft]);
  const versions = useLoad((signal) => get<Page<DatasetVersion>>(at + '/versions?limit=1000', signal), [at, turn]);
  const reload = () => { loaded.retry(); setTurn(turn + 1); };
  const { edits = false, why } = useEdits();
  const d = loaded.data, file = (format: string) => address(at + '/file', { format, version: d ? String(d.number) : '' });
  return (
    <>
      <Heading title={shorten(name, 200)} crumb={<a href="/datasets">Datasets</a>}>
        <CopyLink />
        {d && <><Download href={file('jsonl')} name={name + '.jsonl'}>Download JSONL</Download><Download href={file('yaml')} name={name + '.yaml'}>YAML</Download><Download href={file('csv')} name={name + '.csv'}>CSV</Download></>}
      </Heading>
      <Data of={loaded} what="the dataset">{(d) => (
        <>
          <Facts d={d} />
          {versions.data && versions.data.items.length > 1 && <Versions d={d} list={versions.data.items} />}
          {!d.current && <p class="remark" role="status">This is version {d.number}, and not the current one. <button type="button" class="link" onClick={() => change({ version: '', after: '' })}>Show the current version</button></p>}
          {why && <p class="remark" role="status">{why}</p>}
          <Cases d={d} name={name} edits={edits} reload={reload} draft={draft} edit={edit} />
          {versions.data && versions.data.items.length > 1 && <Changes name={name} list={versions.data.items} />}
        </>
      )}</Data>
      {loaded.problem?.status === 404 && <p><a href="/datasets">All datasets</a></p>}
    </>
  );
}

function Facts({ d }: { d: StoredDataset }) {
  return (
    <dl class="factlist">
      <div><dt>Cases</dt><dd class="num">{count(d.cases)}</dd></div>
      <div><dt>Version</dt><dd>{d.number} <code>{plain(d.version.slice(0, 12))}</code></dd></div>
      <div><dt>Changed</dt><dd>{when(d.created_at)}</dd></div>
      {d.created_by && <div><dt>By the key</dt><dd><code>{plain(d.created_by)}</code></dd></div>}
      <div><dt>Size</dt><dd class="num">{size(d.size)}</dd></div>
      <div><dt>In a suite</dt><dd><code>tests: dataset:{plain(d.name)}@{d.number}</code></dd></div>
    </dl>
  );
}

const label = (v: DatasetVersion): string => v.number + ', ' + when(v.created_at) + ', ' + plural(v.cases, 'case') + (v.current ? ' (current)' : '');

function Versions({ d, list }: { d: StoredDataset; list: DatasetVersion[] }) {
  return <div class="filterrow"><Field label="Version"><select value={String(d.number)} onChange={(e) => change({ version: e.currentTarget.value, after: '' })}>{list.map((v) => <option key={v.number} value={String(v.number)}>{label(v)}</option>)}</select></Field></div>;
}

const pretty = (c: Case): string => JSON.stringify(c, null, 2);

// text formats a value on one line.
const text = (v: unknown): string => (typeof v === 'string' ? v : JSON.stringify(v) ?? '');

// said formats an assertion on one line.
function said(a: unknown): string {
  const { type, id, instruction, value } = (a ?? {}) as Record<string, unknown>;
  return [text(type ?? ''), text(instruction ?? id ?? value ?? '')].filter(Boolean).join(': ');
}

function Cases({ d, name, edits, reload, draft, edit }: { d: StoredDataset; name: string; edits: boolean; reload: () => void; draft: Draft; edit: (set: (before: Draft) => Draft) => void }) {
  const { query } = usePlace();
  const [removed, setRemoved] = useState<Case>(), { busy, problem, run, forget } = useTask(), [status, tell] = useState('');
  const act = (path: string, body: unknown, then: () => void) => run(async () => {
    await ask<ChangedDataset>('POST', datasetAddress(name) + path, body, undefined, { 'If-Match': '"' + d.version + '"' });
    then();
    reload();
  });
  const remove = (c: Case) => act('/remove', { cases: [c.id] }, () => { setRemoved(c); tell('Removed ' + plain(shorten(c.id, 80)) + '.'); });
  const undo = () => act('/cases', { cases: [removed] }, () => { tell('The case was restored as the last one.'); setRemoved(undefined); });
  const cols: Col<Case>[] = [
    { label: 'Case', wide: true, cell: (c) => <>{plain(shorten(c.id, 120))}{c.description && <span class="sub muted">{plain(shorten(c.description, 200))}</span>}</> },
    { label: 'Variables', wide: true, cell: (c) => <><Vars c={c} /><details><summary>Whole case</summary><pre class="wholecase" tabIndex={0}><Text of={shorten(pretty(c), 20_000)} /></pre></details></> },
    { label: 'Assertions', wide: true, cell: (c) => (c.assert?.length ? <>{c.assert.slice(0, 3).map((a, i) => <span class="sub" key={i}>{plain(shorten(said(a), 120))}</span>)}{c.assert.length > 3 && <span class="sub muted">and {c.assert.length - 3} more</span>}</> : <span class="muted">none</span>) },
  ];
  if (d.current && edits) cols.push({ label: 'Change', cell: (c) => <button type="button" disabled={busy} onClick={() => void remove(c)}>Remove<span class="hidden"> case {plain(shorten(c.id, 80))}</span></button> });
  return (
    <section aria-labelledby="cases">
      <h2 id="cases">Cases</h2>
      <p class="counted muted" role="status">{status || (d.items.length > 0 && plural(d.cases, 'case'))} {removed && <button type="button" class="link" disabled={busy} onClick={() => void undo()}>Undo</button>}</p>
      {problem && <><Mistakes problem={problem} />{problem.status === 409 && <p><button type="button" onClick={() => { forget(); reload(); }}>Show the current version</button></p>}</>}
      {d.items.length ? <Table caption="Cases" cols={cols} rows={d.items} id={(c) => c.id} /> : <Empty>This version has no cases. Add one below, or add the failures of a run on its page.</Empty>}
      <p class="paging">
        {query.get('after') && <button type="button" onClick={() => change({ after: '', version: d.current ? '' : String(d.number) })}>First page</button>}
        {d.next && <button type="button" onClick={() => change({ after: d.next!, version: String(d.number) })}>Next page</button>}
        {(d.next || query.get('after')) && <span class="muted">{count(d.items.length)} of {plural(d.cases, 'case')} on this page</span>}
      </p>
      {d.current && edits && <CaseForm d={d} name={name} reload={reload} draft={draft} edit={edit} />}
    </section>
  );
}

function Vars({ c }: { c: Case }) {
  const list = Object.entries(c.vars ?? {});
  if (!list.length) return <span class="muted">none</span>;
  return <>{list.slice(0, 4).map(([name, v]) => <span class="sub" key={name}><span class="muted">{plain(shorten(name, 40))}</span> {plain(shorten(text(v), 160))}</span>)}{list.length > 4 && <span class="sub muted">and {list.length - 4} more</span>}</>;
}

function Changes({ name, list }: { name: string; list: DatasetVersion[] }) {
  const { query } = usePlace();
  const to = query.get('to') ?? String((list.find((v) => v.current) ?? list[0]!).number);
  const from = query.get('from') ?? String((list.find((v) => v.number < Number(to)) ?? list.find((v) => String(v.number) !== to) ?? list[0]!).number);
  const at = address(datasetAddress(name) + '/diff', { from, to });
  const loaded = useLoad((signal) => get<DatasetDiff>(at, signal), [at]);
  const select = (what: string, param: string, value: string) => (
    <Field label={what}><select value={value} onChange={(e) => change({ [param]: e.currentTarget.value })}>{list.map((v) => <option key={v.number} value={String(v.number)}>{label(v)}</option>)}</select></Field>
  );
  return (
    <section aria-labelledby="changed">
      <h2 id="changed">What changed</h2>
      <div class="filterrow choice">{select('From', 'from', from)}{select('To', 'to', to)}</div>
      <Data of={loaded} what="what changed">{(diff) => <Diff diff={diff} />}</Data>
    </section>
  );
}

const listed = 100;

function Diff({ diff }: { diff: DatasetDiff }) {
  const { added, removed, changed, same } = diff.counts;
  const parts = ([['Added', diff.added, added], ['Removed', diff.removed, removed]] as const).filter(([, , n]) => n > 0);
  return (
    <>
      <p role="status">{count(added)} added, {count(removed)} removed, {count(changed)} changed, {count(same)} the same.</p>
      {changed > 0 && <h3>Changed</h3>}
      {diff.changed.slice(0, listed).map((c) => <ChangedOne key={c.case} id={c.case} before={pretty(c.before)} after={pretty(c.after)} />)}
      <Rest of={changed} shown={Math.min(listed, diff.changed.length)} />
      {parts.map(([title, list, n]) => (
        <div key={title}>
          <h3>{title}</h3>
          {list.slice(0, listed).map((c) => <details key={c.id}><summary>{plain(shorten(c.id, 120))}{c.description && ' · ' + plain(shorten(c.description, 120))}</summary><pre class="wholecase" tabIndex={0}><Text of={shorten(pretty(c), 20_000)} /></pre></details>)}
          <Rest of={n} shown={Math.min(listed, list.length)} />
        </div>
      ))}
    </>
  );
}

const Rest = ({ of, shown }: { of: number; shown: number }) => (of > shown ? <p class="muted">and {count(of - shown)} more</p> : null);

function ChangedOne({ id, before, after }: { id: string; before: string; after: string }) {
  const [open, set] = useState(false);
  const parts = open ? wordDiff(before, after) : undefined;
  return (
    <details onToggle={(e) => set(e.currentTarget.open)}>
      <summary>{plain(shorten(id, 120))}</summary>
      {open && <div class="outtext prompt" tabIndex={0} role="region" aria-label={'Difference of ' + plain(shorten(id, 80)) + ' by words'}>{parts ? <Words parts={parts} /> : <Text of={shorten(after, 20_000)} />}</div>}
    </details>
  );
}
