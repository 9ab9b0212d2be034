// Prompts with their versions: what changed, and what assertions cover.
import type { Prompt } from '../api';
import { useLoad } from '../load';
import { plural, when } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty } from '../parts/states';
import { plain, shorten } from '../text';
import { address, change, usePlace } from '../url';
import { Coverage } from './coverage';
import { Difference } from './difference';
import { Rate } from './figures';
import { Field, Filters, Search } from './filters';
import { Heading } from './heading';
import { every } from './items';
import { Table, type Col } from './table';

const listed = 500;

type Version = Prompt['versions'][number];

export default function Prompts() {
  const { query } = usePlace();
  const name = query.get('name'), suite = query.get('suite') ?? '';
  const loaded = useLoad((signal) => every<Prompt>('/v1/prompts?limit=1000', signal), []);
  if (name === null) return <List loaded={loaded} />;
  return (
    <div key={name}>
      <Heading title={shorten(name, 200)} crumb={<a href="/prompts">Prompts</a>}><CopyLink /><Download href="/v1/prompts?limit=1000" name="prompts.json">Download JSON</Download></Heading>
      <Data of={loaded} what="the prompt">{(all) => {
        const prompt = all.find((p) => p.name === name && (!suite || p.suite === suite));
        return prompt ? <One p={prompt} /> : <Empty>No run has a prompt of this name. <a href="/prompts">All prompts</a></Empty>;
      }}</Data>
    </div>
  );
}

const columns: Col<Prompt>[] = [
  { label: 'Prompt', wide: true, cell: (p) => <><a href={address('/prompts', { name: p.name, suite: p.suite })}>{plain(shorten(p.name, 120))}</a><span class="sub muted">{plain(p.suite)}</span></> },
  { label: 'Newest version', cell: (p) => (p.versions[0] ? <Rate counts={p.versions[0]} /> : null) },
  { label: 'Versions', num: true, cell: (p) => p.versions.length },
  { label: 'Last seen', cell: (p) => <span class="nowrap">{when(p.versions[0]?.last_seen)}</span> },
  { label: 'Instructions matched', cell: (p) => (p.coverage.length ? covered(p) + ' of ' + p.coverage.length : <span class="muted">none found</span>) },
];

const covered = (p: Prompt): number => p.coverage.filter((c) => c.assertions.length).length;

function List({ loaded }: { loaded: ReturnType<typeof useLoad<Prompt[]>> }) {
  const { query } = usePlace();
  const q = (query.get('q') ?? '').toLowerCase(), suite = query.get('suite') ?? '';
  const suites = [...new Set((loaded.data ?? []).map((p) => p.suite))].sort();
  return (
    <>
      <Heading title="Prompts"><CopyLink /><Download href="/v1/prompts?limit=1000" name="prompts.json">Download JSON</Download></Heading>
      <Filters active={!!(q || suite)} clear={['q', 'suite']}>
        <Field label="Suite"><select value={suite} onChange={(e) => change({ suite: e.currentTarget.value })}><option value="">All</option>{suites.map((s) => <option key={s} value={s}>{plain(s)}</option>)}</select></Field>
        <Search label="Search names and texts" />
      </Filters>
      <Data of={loaded} what="prompts">{(all) => {
        if (!all.length) return <Empty command="proviso eval -c suite.yaml">No run has a prompt yet. Run a suite, then open this page again.</Empty>;
        const found = all.filter((p) => (!suite || p.suite === suite) && (p.name + '\n' + (p.versions[0]?.text ?? '')).toLowerCase().includes(q));
        if (!found.length) return <Empty>No prompt matches these filters. <button type="button" class="link" onClick={() => change({ q: '', suite: '' })}>Clear filters</button></Empty>;
        return <><p class="counted muted" role="status">{plural(found.length, 'prompt')}{found.length > listed && '; the table has the first ' + listed}</p><Table caption="Prompts" cols={columns} rows={found.slice(0, listed)} id={(p) => p.suite + '\n' + p.name} /></>;
      }}</Data>
    </>
  );
}

const short = (v: Version): string => plain(v.hash.replace(/^sha256:/, '').slice(0, 8));

function One({ p }: { p: Prompt }) {
  const { query } = usePlace();
  const newest = p.versions[0];
  const find = (param: string) => p.versions.find((v) => v.hash === query.get(param));
  const to = find('to') ?? newest, from = find('from') ?? p.versions[1];
  if (!newest || !to) return <Empty>There are no versions of this prompt.</Empty>;
  const cols: Col<Version>[] = [
    { label: 'Version', cell: (v) => <code>{short(v)}</code> },
    { label: 'First seen', cell: (v) => <a href={'/runs/' + encodeURIComponent(v.first_run)}>{when(v.first_seen)}</a> },
    { label: 'Last seen', cell: (v) => <a href={'/runs/' + encodeURIComponent(v.last_run)}>{when(v.last_seen)}</a> },
    { label: 'Runs', num: true, cell: (v) => v.runs },
    { label: 'Results', cell: (v) => <Rate counts={v} /> },
  ];
  const select = (label: string, param: string, value: Version) => (
    <Field label={label}><select value={value.hash} onChange={(e) => change({ [param]: e.currentTarget.value })}>{p.versions.map((v) => <option key={v.hash} value={v.hash}>{short(v)}, {when(v.first_seen)}</option>)}</select></Field>
  );
  return (
    <>
      <p class="muted">Suite {plain(p.suite || 'unnamed')} · <a href={address('/spade', { prompt: p.name, suite: p.suite })}>Propose assertions for it</a></p>
      <h2>Versions, newest first</h2>
      <Table caption="Versions of the prompt, newest first" cols={cols} rows={p.versions.slice(0, 100)} id={(v) => v.hash} />
      {from && <section aria-labelledby="difference">
        <h2 id="difference">What changed</h2>
        <div class="filterrow">{select('From', 'from', from)}{select('To', 'to', to)}</div>
        <Difference from={from.text} to={to.text} />
      </section>}
      <Coverage p={p} />
    </>
  );
}
