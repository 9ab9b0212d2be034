// The queues: progress, agreement, and a form that makes a queue from a run.
import { useState } from 'preact/hooks';
import type { LabelQueue, Page } from '../api';
import { Failure, ask, get, useLoad } from '../load';
import { count, percent, when } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty } from '../parts/states';
import { Heading } from '../pages/heading';
import { Filters, Search } from '../pages/filters';
import { Table, type Col } from '../pages/table';
import { plain } from '../text';
import { address, change, usePlace } from '../url';
import { AgreementTables } from './agreement';
import { queueAddress } from './api';
import { QueueForm } from './form';

const most = 200;

const pageOf = (name: string): string => '/label/' + encodeURIComponent(name);

// Progress shows how many items of a queue are done.
export function Progress({ q }: { q: LabelQueue }) {
  return (
    <span class="queueprogress num">
      <progress value={q.done} max={Math.max(1, q.items)} aria-label={'Items done in ' + plain(q.name)} />
      <span>{count(q.done)} of {count(q.items)}<span class="muted"> · {percent(q.items ? q.done / q.items : 0)}</span></span>
    </span>
  );
}

const cols: Col<LabelQueue>[] = [
  { label: 'Queue', wide: true, cell: (q) => <a href={pageOf(q.name)}>{plain(q.name)}</a> },
  { label: 'Done', cell: (q) => <Progress q={q} /> },
  { label: 'People for each item', num: true, cell: (q) => count(q.people) },
  { label: 'Judge’s verdict', cell: (q) => (q.blind ? 'hidden until you answer' : 'shown') },
  { label: 'Run', cell: (q) => <a href={'/runs/' + encodeURIComponent(q.run)}>{plain(q.run)}</a> },
  { label: 'Made', cell: (q) => <span class="num nowrap">{when(q.created)}</span> },
  { label: 'Agreement', cell: (q) => <a href={address('/label', { queue: q.name })}>Agreement<span class="hidden"> in {plain(q.name)}</span></a> },
];

export function Queues() {
  const { query } = usePlace();
  const q = (query.get('q') ?? '').toLowerCase(), run = query.get('run') ?? '';
  const list = useLoad((signal) => get<Page<LabelQueue>>('/v1/label-queues?limit=' + most, signal), []);
  const making = query.get('new') === 'yes' || !!run;
  const close = () => { change({ run: '', new: '' }); list.retry(); };
  return (
    <>
      <Heading title="Label">
        {!making && <button type="button" onClick={() => change({ new: 'yes' })}>New queue</button>}
        <CopyLink /><Download href="/v1/label-queues" name="label-queues.json">Download JSON</Download>
      </Heading>
      {making && <QueueForm run={run} known={list.data?.items ?? []} close={close} />}
      <Data of={list} what="queues">{(data) => {
        if (!data.items.length) return making ? null : <Empty>There is nothing to label yet. A queue says which outputs of a run people read, and in which order. <button type="button" class="link" onClick={() => change({ new: 'yes' })}>Make a queue</button>, or press “Label this run” at a run.</Empty>;
        const found = data.items.filter((x) => (x.name + ' ' + x.run).toLowerCase().includes(q));
        const chosen = data.items.find((x) => x.name === query.get('queue')) ?? (data.items.length === 1 ? data.items[0] : undefined);
        return (
          <>
            <Filters active={!!q} clear={['q']}><Search label="Search queues" /></Filters>
            {found.length ? <Table caption="Queues" cols={cols} rows={found} id={(x) => x.name} />
              : <Empty>No queue matches this filter. <button type="button" class="link" onClick={() => change({ q: '' })}>Clear filters</button></Empty>}
            {data.next && <p class="muted">The first {count(most)} queues are listed.</p>}
            {chosen && found.length > 0 && <About key={chosen.name} name={chosen.name} gone={() => { change({ queue: '' }); list.retry(); }} />}
          </>
        );
      }}</Data>
    </>
  );
}

// About is one queue: its agreement, and how to delete it.
function About({ name, gone }: { name: string; gone: () => void }) {
  const loaded = useLoad((signal) => get<LabelQueue>(queueAddress(name), signal), [name]);
  return (
    <section aria-labelledby="about-queue">
      <h2 id="about-queue">Agreement in {plain(name)}</h2>
      <Data of={loaded} what="the agreement">{(q) => (
        <>
          {q.agreement && <AgreementTables a={q.agreement} people={plain} />}
          <div class="queueactions">
            <a class="button" href={pageOf(name)}>Label</a>
            <Download href={address('/v1/labels/file', { queue: name })} name="labels.jsonl">Download labels</Download>
            <Remove name={name} gone={gone} />
          </div>
        </>
      )}</Data>
    </section>
  );
}

// Remove deletes a queue after a confirmation. Its labels stay.
function Remove({ name, gone }: { name: string; gone: () => void }) {
  const [sure, ask_] = useState(false), [said, say] = useState('');
  const remove = () => {
    ask('DELETE', queueAddress(name)).then(gone, (e: unknown) => say(e instanceof Failure ? e.problem.detail : String(e)));
  };
  return (
    <>
      {sure ? <><button type="button" onClick={remove}>Remove {plain(name)}; its labels stay</button><button type="button" onClick={() => ask_(false)}>Keep it</button></>
        : <button type="button" onClick={() => ask_(true)}>Remove the queue</button>}
      <span class="said" role="status">{said}</span>
    </>
  );
}
