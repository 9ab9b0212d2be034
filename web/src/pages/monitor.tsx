// The monitor: whether an agent has drifted, since when, and whether anything is silent.
import type { Adoption, AgentAdoption, AlarmShown, Measure, Page, PullRequest, WatchView } from '../api';
import { get, useLoad } from '../load';
import { count, dollars, percent, plural, when } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty } from '../parts/states';
import { plain, shorten } from '../text';
import { decoded, usePlace } from '../url';
import { AlarmMark, WatchMark, alarmPage, causeText, kindOf, watchPage } from '../watch/state';
import { Heading } from './heading';
import { every, items } from './items';
import { Table, type Col } from './table';
import { WatchPage } from './watch';

export default function Monitor() {
  const part = /^\/monitor\/([^/]+)$/.exec(usePlace().path.replace(/\/+$/, ''));
  return part ? <WatchPage key={part[1]} name={decoded(part[1]!)} /> : <Overview />;
}

const watchColumns: Col<WatchView>[] = [
  { label: 'Watch', wide: true, cell: (w) => <a href={watchPage(w.name)}>{plain(w.name)}</a> },
  { label: 'State', cell: (w) => <><WatchMark state={w.state} />{w.causes?.length ? <small class="muted"> {w.causes.map(causeText).join(', ')}</small> : null}{w.warnings?.length ? <small class="muted"> {w.warnings.map((text) => plain(shorten(text, 200))).join(' ')}</small> : null}</> },
  { label: 'Open alarms', num: true, cell: (w) => count(w.open_alarms) },
  { label: 'Last verdict', cell: (w) => (w.last_verdict ? <span class="nowrap">{when(w.last_verdict)}</span> : <span class="muted">never</span>) },
  { label: 'Waiting', num: true, cell: (w) => count(w.queue.pending) },
  { label: 'Spent today', num: true, cell: (w) => dollars(w.spend.spent) + (w.spend.budget ? ' of ' + dollars(w.spend.budget) : '') },
];

export const alarmColumns: Col<AlarmShown>[] = [
  { label: 'Alarm', wide: true, cell: (a) => <a href={alarmPage(a.id)}>{kindOf(a)}{a.assertion && ': ' + plain(a.assertion)}</a> },
  { label: 'State', cell: (a) => <AlarmMark a={a} /> },
  { label: 'Watch', cell: (a) => <a href={watchPage(a.watch)}>{plain(a.watch)}</a> },
  { label: 'Opened', cell: (a) => <span class="nowrap">{when(a.opened)}</span> },
  { label: 'Since about', cell: (a) => a.since && <span class="nowrap">{when(a.since.low)}</span> },
];

function Overview() {
  const watches = useLoad((signal) => every<WatchView>('/v1/watches?limit=100', signal), []);
  const open = useLoad((signal) => Promise.all(['open', 'acked'].map((s) => get<Page<AlarmShown>>('/v1/alarms?limit=50&state=' + s, signal))).then((two) => two.flatMap(items)), []);
  return (
    <>
      <Heading title="Monitor"><CopyLink /><Download href="/v1/watches" name="watches.json">Download JSON</Download></Heading>
      <Data of={watches} what="watches">{(list) => (list.length
        ? <><Data of={open} what="open alarms">{(a) => <Alarms of={a} />}</Data><h2>Watches</h2><Table caption="Watches" cols={watchColumns} rows={[...list].sort((a, b) => rank(a) - rank(b))} id={(w) => w.name} /></>
        : <Empty command={'proviso monitor apply watches.yaml --server ' + location.origin}>There are no watches yet. A watch checks sampled traffic with an assertion set, and raises an alarm when failures become more frequent. See docs/monitor.md.</Empty>)}</Data>
      <AdoptionPart />
    </>
  );
}

// rank puts watches that need attention first.
const rank = (w: WatchView): number => ['alarm', 'silent', 'learning', 'ok'].indexOf(w.state);

function Alarms({ of }: { of: AlarmShown[] }) {
  if (!of.length) return <p role="status">No alarm is open. <a href="/alarms">All alarms</a></p>;
  return <><h2>Open alarms <span class="num">({count(of.length)})</span></h2><Table caption="Open alarms" cols={alarmColumns} rows={of} id={(a) => a.id} /><p><a href="/alarms">All alarms</a></p></>;
}

const agentColumns: Col<AgentAdoption>[] = [
  { label: 'Agent', wide: true, cell: (a) => <a href={'/traffic?agent=' + encodeURIComponent(a.agent)}>{plain(a.agent)}</a> },
  { label: 'Events, 30 days', num: true, cell: (a) => count(a.events) },
  { label: 'Watches', cell: (a) => (a.watches.length ? a.watches.map((w, i) => <>{i > 0 && ', '}<a href={watchPage(w)}>{plain(w)}</a></>) : <span class="status error"><span aria-hidden="true">! </span>None</span>) },
  { label: 'Assertions', num: true, cell: (a) => count(a.assertions) },
  { label: 'Evaluated', num: true, cell: (a) => percent(a.evaluated) },
  { label: 'Last evaluated', cell: (a) => (a.last_evaluated ? <span class="nowrap">{when(a.last_evaluated)}</span> : <span class="muted">never</span>) },
  { label: 'Newest prompt', cell: (a) => { const p = a.prompts[0]; return p && (p.instructions === null ? <span class="muted">its text is not known</span> : `${count(p.covered ?? 0)} of ${plural(p.instructions, 'instruction')} checked`); } },
];

const pullColumns: Col<PullRequest>[] = [
  { label: 'Pull request', wide: true, cell: (p) => '#' + plain(shorten(p.number, 80)) },
  { label: 'Suite', cell: (p) => plain(p.suite) },
  { label: 'Run', cell: (p) => <a href={'/runs/' + encodeURIComponent(p.run)}>{plain(shorten(p.run, 24))}</a> },
  { label: 'Changed the agent', cell: (p) => (p.changed === null ? <span class="muted">not known</span> : p.changed ? 'Yes' : 'No') },
  { label: 'Has a verdict', cell: (p) => (p.verdict ? <span class="status pass"><span aria-hidden="true">✓ </span>Yes</span> : <span class="status error"><span aria-hidden="true">! </span>No</span>) },
];

function AdoptionPart() {
  const loaded = useLoad((signal) => get<Adoption>('/v1/adoption', signal), []);
  return (
    <section aria-labelledby="adoption">
      <h2 id="adoption">Adoption</h2>
      <Data of={loaded} what="adoption">{(a) => (
        <>
          <dl class="measures">{a.measures.map((m: Measure) => <div key={m.name}><dt>{plain(m.name)}</dt><dd><strong class="num">{m.value === null ? '–' : percent(m.value)}</strong> <span class="muted">of {count(m.of)}</span><p class="muted">{plain(m.definition)}</p></dd></div>)}</dl>
          {a.agents.length > 0 ? <Table caption="Agents" cols={agentColumns} rows={a.agents} id={(x) => x.agent} /> : <Empty command={`curl ${location.origin}/v1/events -H 'Content-Type: application/json' \\\n  -d '{"events": [{"id": "1", "agent": "support", "input": "Hello", "output": "Hello, how can I help?"}]}'`}>No agent has sent an event yet. Send one, or put proviso proxy in front of a model.</Empty>}
          {a.pull_requests.length > 0 && <><h3>Pull requests</h3><Table caption="Pull requests" cols={pullColumns} rows={a.pull_requests} id={(p) => p.run} /></>}
        </>
      )}</Data>
    </section>
  );
}
