// Judge models: how often is the judge right?
import type { Judge } from '../api';
import { get, useLoad } from '../load';
import { count, dollars } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty } from '../parts/states';
import { plain } from '../text';
import { address, change, usePlace } from '../url';
import { AlignmentCard, benchAddress, isWeak } from './alignment';
import { Filters, Search } from './filters';
import { Heading } from './heading';
import { items, type Items } from './items';
import { Table, type Col } from './table';

const columns: Col<Judge>[] = [
  { label: 'Judge', wide: true, cell: (j) => <a href={address('/judges', { judge: j.judge })}>{plain(j.judge)}</a> },
  { label: 'Agreement with people', cell: (j) => (j.alignment.length ? <Agreed j={j} /> : <span class="status error"><span aria-hidden="true">! </span>Not measured</span>) },
  { label: 'Verdicts', num: true, cell: (j) => count(j.verdicts) },
  { label: 'From the cache', num: true, cell: (j) => count(j.cached) },
  { label: 'Errors', num: true, cell: (j) => count(j.errors) },
  { label: 'Cost', num: true, cell: (j) => dollars(j.cost) },
  { label: 'Runs', num: true, cell: (j) => count(j.runs) },
  { label: 'Last run', cell: (j) => j.last_run && <a href={'/runs/' + encodeURIComponent(j.last_run)}>{plain(j.last_run)}</a> },
];

export default function Judges() {
  const { query } = usePlace();
  const q = (query.get('q') ?? '').toLowerCase(), one = query.get('judge') ?? '';
  const loaded = useLoad((signal) => get<Items<Judge>>('/v1/judges', signal).then(items), []);
  return (
    <>
      <Heading title="Judges"><CopyLink /><Download href="/v1/judges" name="judges.json">Download JSON</Download></Heading>
      <Filters active={!!(q || one)} clear={['q', 'judge']}><Search label="Search judges" /></Filters>
      <Data of={loaded} what="judges">{(data) => {
        if (!data.length) return <Empty command="proviso eval -c suite.yaml">No run has asked a judge yet. Judges decide assertions such as llm-rubric.</Empty>;
        const found = data.filter((j) => j.judge.toLowerCase().includes(q) && (!one || j.judge === one));
        if (!found.length) return <Empty>No judge matches these filters. <button type="button" class="link" onClick={() => change({ q: '', judge: '' })}>Clear filters</button></Empty>;
        return <><Table caption="Judges" cols={columns} rows={found} id={(j) => j.judge} />{found.map((j) => <Agreement key={j.judge} j={j} />)}</>;
      }}</Data>
    </>
  );
}

// Agreed is the overall agreement in short form.
function Agreed({ j }: { j: Judge }) {
  const weak = j.alignment.filter(isWeak).length, strong = j.alignment.length - weak;
  return <span class="outcome">{strong > 0 && <span class="status pass"><span aria-hidden="true">✓ </span>{count(strong)} validated</span>}{weak > 0 && <span class="status error"><span aria-hidden="true">! </span>{count(weak)} weak</span>}</span>;
}

function Agreement({ j }: { j: Judge }) {
  return (
    <section aria-label={'Agreement of ' + plain(j.judge)}>
      <h2>{plain(j.judge)}</h2>
      {j.last_run && <p><a href={benchAddress(j.judge, j.last_run)}>Change this judge and compare it on labelled outputs<span class="hidden"> of {plain(j.judge)}</span></a></p>}
      {j.alignment.length
        ? <div class="cards">{[...j.alignment].sort((a, b) => (a.kappa.value ?? -1) - (b.kappa.value ?? -1)).slice(0, 200).map((m) => <AlignmentCard key={m.criterion} m={m} />)}</div>
        : <Empty command={'proviso align --template last > labels.csv    # outputs to label\nproviso align labels.csv --run last --save    # after you have filled in the column human'}>{j.too_few ? <>The agreement of this judge with people: {plain(j.too_few)}. Label more</> : <>The agreement of this judge with people was not measured. To measure it, label</>} outputs{j.last_run && <> <a href={address('/label', { run: j.last_run })}>in the browser</a>, or</>} in a file:</Empty>}
    </section>
  );
}
