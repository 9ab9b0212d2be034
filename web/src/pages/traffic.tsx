// The traffic explorer: filtered events, one event with its verdicts, and its conversation.
import { useState } from 'preact/hooks';
import type { Agent, Conversation, EventVerdict, Page, TrafficEvent } from '../api';
import { get, useLoad } from '../load';
import { count, dollars, duration, plural, when } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty } from '../parts/states';
import { StatusMark } from '../parts/status';
import { Text, plain, shorten } from '../text';
import { address, change, usePlace } from '../url';
import { eventPage } from '../watch/state';
import { ToDataset, ToPlayground, ToQueue, ToSpade, queryOf, type Filter } from '../watch/take';
import { Field, Filters, Search } from './filters';
import { Heading } from './heading';
import { items } from './items';
import { Table, type Col } from './table';

// The filters with fields on the page, and those that only links set.
const shown = ['q', 'agent', 'status', 'feedback', 'failed'], linked = ['watch', 'assertion', 'version', 'model', 'prompt', 'segment', 'user', 'conversation', 'since', 'until', 'trace_id'];

export default function Traffic() {
  const { query } = usePlace();
  const event = query.get('event'), conversation = query.get('conversation');
  if (event) return <One key={event} id={event} />;
  if (conversation && [...query.keys()].every((k) => k === 'conversation' || k === 'after')) return <Talk key={conversation} id={conversation} />;
  return <List />;
}

const short = (text: string | undefined, most: number): string => plain(shorten((text ?? '').replace(/\s+/g, ' '), most));

const columns: Col<TrafficEvent>[] = [
  { label: 'Time', cell: (e) => <a class="nowrap" href={eventPage(e.id)}>{when(e.time)}</a> },
  { label: 'Input', wide: true, cell: (e) => (e.kept ? short(e.input, 100) || <span class="muted">empty</span> : <span class="muted">texts are not kept</span>) },
  { label: 'Output', wide: true, cell: (e) => (e.failed ? <span class="status error"><span aria-hidden="true">! </span>No answer: {short(e.error, 80)}</span> : short(e.output, 140)) },
  { label: 'Agent', cell: (e) => <>{plain(shorten(e.agent, 40))}{e.version && <small class="muted"> {plain(shorten(e.version, 20))}</small>}</> },
  { label: 'Thumbs', cell: (e) => (e.up || e.down ? `${e.up ? '▲ ' + count(e.up) : ''} ${e.down ? '▼ ' + count(e.down) : ''}`.trim() : null) },
];

function List() {
  const { query } = usePlace();
  const filter: Filter = Object.fromEntries([...shown, ...linked].map((name) => [name, query.get(name) ?? '']));
  const after = query.get('after') ?? '', text = queryOf(filter);
  const path = address('/v1/events', { ...filter, after, limit: '50' });
  const loaded = useLoad((signal) => get<Page<TrafficEvent>>(path, signal), [path]);
  const agents = useLoad((signal) => get<Page<Agent>>('/v1/agents?limit=100', signal).then(items), []).data ?? [];
  const clear = [...shown, ...linked, 'after'];
  const set = (name: string) => (e: { currentTarget: { value: string } }) => change({ [name]: e.currentTarget.value, after: '' });
  return (
    <>
      <Heading title="Traffic"><CopyLink /><Download href={address('/v1/events', { ...filter, limit: '200', texts: 'full' })} name="events.json">Download JSON</Download></Heading>
      <Filters active={!!text} clear={clear}>
        <Search label="Search texts" />
        <Field label="Agent"><select value={filter.agent} onChange={set('agent')}><option value="">All</option>{agents.map((a) => <option key={a.name} value={a.name}>{plain(shorten(a.name, 60))}</option>)}</select></Field>
        <Field label="Verdict"><select value={filter.status} onChange={set('status')}><option value="">All events</option><option value="fail">With a fail</option><option value="pass">With a pass</option><option value="error">With an error</option></select></Field>
        <Field label="Thumbs"><select value={filter.feedback} onChange={set('feedback')}><option value="">All</option><option value="down">Down</option><option value="up">Up</option></select></Field>
        <Field label="Answer"><select value={filter.failed} onChange={set('failed')}><option value="">All</option><option value="no">Answered</option><option value="yes">No answer</option></select></Field>
      </Filters>
      {linked.some((n) => filter[n]) && <ul class="chips">{linked.filter((n) => filter[n]).map((n) => <li key={n}><button type="button" onClick={() => change({ [n]: '', after: '' })}>{n.replace('_', ' ')}: {n === 'since' || n === 'until' ? when(filter[n]) : plain(shorten(filter[n]!, 60))} <span aria-hidden="true">✕</span><span class="hidden"> remove</span></button></li>)}</ul>}
      <Data of={loaded} what="events">{(page) => {
        const list = items(page);
        if (!list.length && !page.next) {
          return text ? <Empty>No event matches these filters. <button type="button" class="link" onClick={() => change(Object.fromEntries(clear.map((n) => [n, ''])))}>Clear filters</button></Empty>
            : <Empty command={`curl ${location.origin}/v1/events -H 'Content-Type: application/json' \\\n  -d '{"events": [{"id": "1", "agent": "support", "input": "Hello", "output": "Hello, how can I help?"}]}'`}>No event has come yet. Send one, or put proviso proxy in front of a model.</Empty>;
        }
        return (
          <>
            {list.length > 0 ? <Table caption="Events, newest first" cols={columns} rows={list} id={(e) => e.id} /> : <p class="muted">Nothing was found so far.</p>}
            {page.next && <p><a href={address('/traffic', { ...filter, after: page.next })}>{list.length ? 'Older events' : 'Look further back'}</a></p>}
            {text && list.length > 0 && <><ToDataset filter={filter} /><ToQueue filter={filter} name={filter.agent || filter.watch || ''} /><ToSpade filter={filter} /></>}
          </>
        );
      }}</Data>
    </>
  );
}

function Verdicts({ of }: { of: EventVerdict[] }) {
  if (!of.length) return <p class="muted">No watch has evaluated this event.</p>;
  return <>{of.map((v) => <div key={v.assertion + (v.judge ?? '') + v.at} class={'card ' + v.status}><h3><StatusMark status={v.status} of={plain(v.assertion)} /></h3>{v.reason && <p><Text of={v.reason} /></p>}{v.judge && <p class="muted">judge {plain(shorten(v.judge, 80))}, {when(v.at)}</p>}</div>)}</>;
}

// Event shows the texts of an event beside its verdicts.
function Event({ e, open }: { e: TrafficEvent; open: boolean }) {
  const [all, showAll] = useState(false), most = 20_000, H = open ? 'h2' : 'h3';
  const block = (name: string, text: string | undefined) => text !== undefined && text !== '' && <section aria-label={name}><H>{name}</H><div class="scrolled" tabIndex={0} role="group" aria-label={name + ' of the event'}><Text of={all ? text : shorten(text, most)} /></div>{!all && text.length > most && <button type="button" class="link" onClick={() => showAll(true)}>Show all {count(text.length)} characters</button>}</section>;
  return (
    <div class="eventview">
      <div class="seen">
        {!e.kept && <p class="muted">The texts of this event are not kept: it was not sampled, or they were removed after their time.</p>}
        {block('Input', e.input)}
        {e.failed ? <p class="status error"><span aria-hidden="true">! </span>No answer: <Text of={e.error ?? ''} /></p> : block('Output', e.output)}
        {e.context && <details open={open}><summary>Context</summary>{block('Context', e.context)}</details>}
        {e.metadata && <details><summary>Metadata</summary><pre tabIndex={0}>{plain(JSON.stringify(e.metadata, null, 2).slice(0, 100_000))}</pre></details>}
      </div>
      <div class="asked"><H>Verdicts</H><Verdicts of={e.verdicts ?? []} /></div>
    </div>
  );
}

function Facts({ e }: { e: TrafficEvent }) {
  const by = (name: string, value: string | undefined, label: string, text = value) => value && <div><dt>{label}</dt><dd><a href={address('/traffic', { agent: e.agent, [name]: value })}>{plain(shorten(text ?? '', 80))}</a></dd></div>;
  return (
    <dl class="facts">
      <div><dt>Agent</dt><dd><a href={address('/traffic', { agent: e.agent })}>{plain(e.agent)}</a></dd></div>
      {by('version', e.version, 'Version')}{by('model', e.model, 'Model')}{e.prompt && by('prompt', e.prompt, 'Prompt', e.prompt.slice(0, 19) + '…')}{by('user', e.user, 'User')}
      {Object.entries(e.segment ?? {}).map(([k, v]) => <div key={k}><dt>{plain(shorten(k, 40))}</dt><dd><a href={address('/traffic', { agent: e.agent, segment: k + ':' + v })}>{plain(shorten(v, 80))}</a></dd></div>)}
      {e.conversation && <div><dt>Conversation</dt><dd><a href={address('/traffic', { conversation: e.conversation })}>{plain(shorten(e.conversation, 80))}</a></dd></div>}
      {e.trace_id && <div><dt>Trace</dt><dd><code>{plain(e.trace_id)}</code></dd></div>}
      <div><dt>Time</dt><dd>{when(e.time)}</dd></div>
      {e.latency_ms ? <div><dt>Latency</dt><dd>{duration(e.latency_ms)}</dd></div> : null}
      {e.usage && <div><dt>Tokens</dt><dd class="num">{count(e.usage.total_tokens)}</dd></div>}
      {e.cost ? <div><dt>Cost</dt><dd class="num">{dollars(e.cost)}</dd></div> : null}
    </dl>
  );
}

function One({ id }: { id: string }) {
  const path = '/v1/events/' + encodeURIComponent(id);
  const loaded = useLoad((signal) => get<TrafficEvent>(path, signal), [path]);
  return (
    <>
      <Heading title={'Event ' + shorten(id, 60)} crumb={<a href="/traffic">Traffic</a>}><CopyLink /><Download href={path} name="event.json">Download JSON</Download></Heading>
      <Data of={loaded} what="the event">{(e) => (
        <>
          <Facts e={e} />
          <Event e={e} open />
          {e.feedback?.length ? <section aria-labelledby="thumbs"><h2 id="thumbs">Thumbs</h2><ul>{e.feedback.map((f, i) => <li key={i}>{f.value > 0 ? '▲ up' : '▼ down'}{f.user && ' by ' + plain(shorten(f.user, 60))}, {when(f.time)}{f.comment && <>: <Text of={f.comment} /></>}</li>)}</ul></section> : null}
          {e.kept && !e.failed && <ToPlayground e={e} />}
          {e.kept && <><ToDataset events={[e.id]} /><ToQueue events={[e.id]} name={e.agent} summary="Label it" /></>}
          {e.prompt && <><ToSpade filter={{ agent: e.agent, prompt: e.prompt }} /><p><Download href={'/v1/agents/' + encodeURIComponent(e.agent) + '/prompts?limit=200'} name="prompts.json">Download its prompts</Download></p></>}
        </>
      )}</Data>
    </>
  );
}

function Talk({ id }: { id: string }) {
  const path = address('/v1/conversations/' + encodeURIComponent(id), { limit: '50', after: usePlace().query.get('after') ?? '' });
  const loaded = useLoad((signal) => get<Conversation>(path, signal), [path]);
  return (
    <>
      <Heading title={'Conversation ' + shorten(id, 60)} crumb={<a href="/traffic">Traffic</a>}><CopyLink /><Download href={path} name="conversation.json">Download JSON</Download></Heading>
      <Data of={loaded} what="the conversation">{(c) => (
        <>
          <p class="muted">{plural(c.items.length, 'event')}{c.next && ' of this page'}, the oldest first.</p>
          {c.items.map((e) => <section key={e.id} class="turn" aria-label={'Event of ' + when(e.time)}><h2><a href={eventPage(e.id)}>{when(e.time)}</a></h2><Event e={e} open={false} /></section>)}
          {c.next && <p><a href={address('/traffic', { conversation: id, after: c.next })}>Later events</a></p>}
        </>
      )}</Data>
    </>
  );
}
