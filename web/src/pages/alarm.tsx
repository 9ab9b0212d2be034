// Alarms: the list, and one alarm with what changed, since when, and what to do.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { AlarmShown, AlarmView, Page } from '../api';
import { ask, get, useLoad, useTask } from '../load';
import { count, percent, plural, when } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty, Failed } from '../parts/states';
import { Text, plain, shorten } from '../text';
import { address, change, usePlace } from '../url';
import { AlarmMark, causeText, eventPage, kindOf, named, watchPage } from '../watch/state';
import { ToDataset, ToQueue, ToSpade } from '../watch/take';
import { Field, Filters } from './filters';
import { Heading } from './heading';
import { items } from './items';
import { alarmColumns } from './monitor';
import { Table } from './table';

export default function Alarms() {
  const part = /^\/alarms\/([^/]+)$/.exec(usePlace().path.replace(/\/+$/, ''));
  return part ? <One key={part[1]} id={part[1]!} /> : <List />;
}

function List() {
  const { query } = usePlace();
  const state = query.get('state') ?? '', watch = query.get('watch') ?? '', after = query.get('after') ?? '';
  const path = address('/v1/alarms', { state, watch, after, limit: '100' });
  const loaded = useLoad((signal) => get<Page<AlarmShown>>(path, signal), [path]);
  return (
    <>
      <Heading title="Alarms" crumb={<a href="/monitor">Monitor</a>}><CopyLink /><Download href={path} name="alarms.json">Download JSON</Download></Heading>
      <Filters active={!!(state || watch)} clear={['state', 'watch', 'after']}>
        <Field label="State"><select value={state} onChange={(e) => change({ state: e.currentTarget.value, after: '' })}><option value="">All</option><option value="open">Open</option><option value="acked">Acknowledged</option><option value="closed">Closed</option></select></Field>
      </Filters>
      <Data of={loaded} what="alarms">{(page) => {
        const list = items(page);
        if (!list.length) return <Empty>{state || watch ? <>No alarm matches these filters. <button type="button" class="link" onClick={() => change({ state: '', watch: '', after: '' })}>Clear filters</button></> : 'There has been no alarm yet.'}</Empty>;
        return <><Table caption="Alarms" cols={alarmColumns} rows={list} id={(a) => a.id} />{page.next && <p><a href={address('/alarms', { state, watch, after: page.next })}>Older alarms</a></p>}</>;
      }}</Data>
    </>
  );
}

function One({ id }: { id: string }) {
  const path = '/v1/alarms/' + id;
  const loaded = useLoad((signal) => get<AlarmView>(path, signal), [path]);
  const [acked, set] = useState<AlarmView>(), { busy, problem, run } = useTask();
  const a = acked ?? loaded.data;
  const [note, setNote] = useState('');
  const ack = (e?: Event) => { e?.preventDefault(); void run(async () => { set(await ask<AlarmView>('POST', path + '/ack', note ? { note } : undefined)); setNote(''); }); };
  return (
    <>
      <Heading title={a ? kindOf(a) + (a.assertion && ': ' + a.assertion) : 'Alarm'} crumb={<a href="/alarms">Alarms</a>} beside={a && <AlarmMark a={a} />}>
        {a?.state === 'open' && <button type="button" class="primary" disabled={busy} onClick={ack}>Acknowledge</button>}<CopyLink /><Download href={path} name={id + '.json'}>Download JSON</Download>
      </Heading>
      {problem && <Failed problem={problem} />}
      <Data of={loaded} what="the alarm">{() => a && (
        <Body a={a}>
          {a.state !== 'closed' && <form class="filterrow" onSubmit={ack}>
            <Field label="Note"><input type="text" size={60} maxLength={1000} required value={note} onInput={(e) => setNote(e.currentTarget.value)} placeholder="What you know or do about it" /></Field>
            <button type="submit" disabled={busy}>{a.ack_note ? 'Replace the note' : a.state === 'open' ? 'Acknowledge with a note' : 'Save the note'}</button>
          </form>}
        </Body>
      )}</Data>
    </>
  );
}

function Body({ a, children }: { a: AlarmView; children: ComponentChildren }) {
  const span = a.since && { since: a.since.low, until: a.closed ?? undefined };
  const filter = { watch: a.watch, assertion: a.assertion, status: 'fail', ...(span ?? {}) };
  const judged = { watch: a.watch, assertion: a.assertion, ...(span ?? {}) };
  const day = 8.64e7, around = a.since && { from: new Date(Math.floor(Date.parse(a.since.low) / 3.6e6) * 3.6e6).toISOString(), to: new Date(Math.min(Date.now(), Date.parse(a.opened) + day)).toISOString() };
  return (
    <>
      <p><Text of={a.reason} /></p>
      <dl class="facts">
        <div><dt>Watch</dt><dd><a href={watchPage(a.watch, { assertion: a.assertion, ...(around ?? {}) })}>{plain(a.watch)}</a></dd></div>
        {a.cause && <div><dt>Cause</dt><dd>{causeText(a.cause)}</dd></div>}
        <div><dt>Opened</dt><dd>{when(a.opened)}{a.closed && ', closed ' + when(a.closed)}{a.acked_by && <>, acknowledged by {plain(a.acked_by)} {when(a.acked_at)}</>}</dd></div>
        {a.ack_note && <div><dt>Note</dt><dd><Text of={a.ack_note} /></dd></div>}
        {a.since && <div><dt>Began</dt><dd>between {when(a.since.low)} and {when(a.since.high)}</dd></div>}
        {a.baseline && <div><dt>Before</dt><dd class="num">{a.baseline.n ? `${percent(a.baseline.rate)} fail (n = ${count(a.baseline.n)}), in control up to ${percent(a.baseline.upper)}` : `the objective: at most ${percent(a.baseline.upper)} fail`}</dd></div>}
        {a.now && <div><dt>Since then</dt><dd class="num">{percent(a.now.rate)} fail (95 %: {percent(a.now.low)} to {percent(a.now.high)}, n = {count(a.now.n)}){a.now.corrected === null ? a.judge && ', not corrected by labels' : `; by people ${percent(a.now.corrected)}`}</dd></div>}
        {a.statistic && <div><dt>False alarms</dt><dd class="num">designed for one in {plural(Math.round(a.statistic.arl0_days), 'day')} on average, over all charts of the project</dd></div>}
        {a.version && <div><dt>Version of the agent</dt><dd>{plain(a.version)}</dd></div>}
        {a.judge && <div><dt>Judge</dt><dd>{plain(a.judge)}</dd></div>}
      </dl>
      {children}
      <h2>What else changed at that time</h2>
      {a.changed.length
        ? <Table caption="What else changed" rows={a.changed} id={(c) => c.what + c.at + c.to} cols={[{ label: 'What', wide: true, cell: (c) => plain(c.what) }, { label: 'From', cell: (c) => plain(named(c.what, c.from)) || 'none' }, { label: 'To', cell: (c) => plain(named(c.what, c.to)) || 'none' }, { label: 'At', cell: (c) => <span class="nowrap">{when(c.at)}</span> }]} />
        : <p class="muted">No version, model, prompt, judge or segment that proviso knows of.</p>}
      {a.kind === 'agent' && <>
        <h2>Failed events</h2>
        {a.examples.length ? <ul class="examples">{a.examples.map((e) => <li key={e}><a href={eventPage(e)}>{plain(e)}</a></li>)}</ul> : <p class="muted">None is kept.</p>}
        <p><a href={address('/traffic', filter)}>All failed events since then</a></p>
        <ToDataset filter={filter} /><ToQueue filter={filter} name={a.watch} /><ToSpade filter={filter} />
      </>}
      {a.kind === 'judge' && <>
        <h2>Who is right?</h2>
        <p>Labels by people show whether the agent or the judge has changed. <a href={address('/traffic', judged)}>What it judged since then</a></p>
        <ToQueue filter={judged} name={a.watch + '-judge'} />
      </>}
      {(a.kind === 'mix' || a.kind === 'silent') && <p><a href={address('/traffic', { watch: a.watch, ...(span ?? {}) })}>The traffic of the watch</a></p>}
      {a.notices.length > 0 && <><h2>Messages</h2><Table caption="Messages" rows={a.notices} id={(n) => n.target + n.event + n.created_at} cols={[{ label: 'Target', wide: true, cell: (n) => plain(n.target) }, { label: 'Event', cell: (n) => n.event }, { label: 'State', cell: (n) => n.state + (n.state === 'waiting' && n.attempts ? `, ${plural(n.attempts, 'attempt')}` : '') }, { label: 'Sent', cell: (n) => n.sent_at ? when(n.sent_at) : n.error && plain(shorten(n.error, 200)) }]} /></>}
    </>
  );
}
