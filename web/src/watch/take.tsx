// Sends events to a dataset, a label queue or spade, selected by a filter.
import { useState } from 'preact/hooks';
import type { AgentPrompt, ChangedDataset, Page, TrafficEvent } from '../api';
import { Failure, ask, get, useTask } from '../load';
import { plural } from '../number';
import { CopyCommand, quoted } from '../parts/actions';
import { Failed } from '../parts/states';
import { plain, shorten } from '../text';
import { Field } from '../pages/filters';
import { items } from '../pages/items';
import { draft, joined, keepDraft } from '../pages/spadedraft';
import { address, go } from '../url';

export type Filter = Record<string, string | undefined>;

// queryOf returns a filter as the query of GET /v1/events.
export function queryOf(filter: Filter): string {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value) q.set(name, value);
  return q.toString();
}

interface Props { summary: string; button: string; value: string; submit: (name: string) => Promise<preact.ComponentChildren> }

function Form({ summary, button, value, submit }: Props) {
  const [name, set] = useState(value), { busy, problem, run } = useTask(), [done, finish] = useState<preact.ComponentChildren>();
  const send = (e: Event) => {
    e.preventDefault();
    finish(undefined);
    void run(async () => finish(await submit(name.trim())));
  };
  return (
    <details class="take"><summary>{summary}</summary>
      <form class="filterrow" onSubmit={send}>
        <Field label="Name"><input type="text" required maxLength={100} spellcheck={false} autocomplete="off" value={name} onInput={(e) => set(e.currentTarget.value)} /></Field>
        <button type="submit" disabled={busy}>{button}</button>
      </form>
      {problem && <Failed problem={problem} />}
      <div role="status">{done && <p class="remark">{done}</p>}</div>
    </details>
  );
}

// ToDataset adds events to a dataset, and creates the dataset if needed.
export function ToDataset({ filter, events }: { filter?: Filter; events?: string[] }) {
  return <Form summary="Add to a dataset" button="Add cases" value="" submit={async (name) => {
    const path = '/v1/datasets/' + encodeURIComponent(name);
    await ask('PUT', path, { cases: [] }, undefined, { 'If-None-Match': '*' }).catch((e: unknown) => { if (!(e instanceof Failure) || e.problem.status !== 409 && e.problem.status !== 412) throw e; });
    const d = await ask<ChangedDataset>('POST', path + '/cases', events ? { events } : { filter: queryOf(filter ?? {}) });
    return <>{plural(d.added?.length ?? 0, 'case')} added to <a href={'/datasets/' + encodeURIComponent(name)}>{plain(name)}</a>.</>;
  }} />;
}

// ToQueue creates a label queue from events.
export function ToQueue({ filter, events, name, summary = 'Label them' }: { filter?: Filter; events?: string[]; name: string; summary?: string }) {
  const start = (name || 'traffic').replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 60) + '-' + new Date().toISOString().slice(0, 10);
  return <Form summary={summary} button="Make a queue" value={start} submit={async (name) => {
    const q = await ask<{ items: number }>('PUT', '/v1/label-queues/' + encodeURIComponent(name), events ? { events } : { filter: queryOf(filter ?? {}) });
    return <>{plural(q.items, 'item')} to label in <a href={'/label/' + encodeURIComponent(name)}>{plain(name)}</a>.</>;
  }} />;
}

// ToPlayground opens the playground with an event's input and output. One click restores
// the previous texts.
export function ToPlayground({ e }: { e: TrafficEvent }) {
  const { busy, problem, run } = useTask();
  const open = () => run(async () => {
    const { play } = await import('../pages/playground'), state = play(), d = state.draft;
    const to = { prompt: '', promptOf: '', vars: {}, input: e.input ?? '', output: e.output ?? '' };
    if (d.prompt || d.input || d.output) state.replace(`The texts here were replaced by those of the event ${shorten(e.id, 60)}.`, to);
    else state.set(to);
    go('/playground');
  });
  return <div class="take"><button type="button" disabled={busy} onClick={open}>Open in the playground</button>{problem && <Failed problem={problem} />}</div>;
}

const versionsMost = 20, outputsMost = 1_000_000;

// ToSpade opens spade with the agent's prompts and the outputs of the events. It also shows
// the command that updates a selection with the agent's answers. Texts pasted in spade
// before are only replaced after a second click.
export function ToSpade({ filter }: { filter: Filter }) {
  const { busy, problem, run } = useTask(), [why, tell] = useState(''), [sure, confirm] = useState(false);
  const open = () => {
    if ((draft.versions || draft.outputs) && !sure) return confirm(true);
    void run(async () => tell(await toDraft(filter)));
  };
  return (
    <div class="take">
      <button type="button" disabled={busy} onClick={open}>{sure ? 'Replace the texts pasted in Spade' : 'Open in Spade'}</button>
      {problem && <Failed problem={problem} />}
      {filter.agent && <CopyCommand command={'proviso spade update FOLDER --server ' + location.origin + ' --agent ' + quoted(filter.agent)} />}
      <div role="status">{sure && !busy && !why && <p class="remark">Spade has pasted texts in this browser tab. They are replaced.</p>}{why && <p class="remark">{why}</p>}</div>
    </div>
  );
}

// toDraft fills spade's draft and opens the page. It returns why if that is not possible.
async function toDraft(filter: Filter): Promise<string> {
  const events = items(await get<Page<TrafficEvent>>(address('/v1/events', { ...filter, limit: '50', texts: 'full' })));
  const agent = filter.agent || events[0]?.agent;
  if (!agent) return 'No event matches.';
  const prompts = items(await get<Page<AgentPrompt>>(address('/v1/agents/' + encodeURIComponent(agent) + '/prompts', { limit: '100' })));
  // A line of three dashes would act as a separator of versions.
  const texts = prompts.filter((p) => p.text).sort((a, b) => Date.parse(a.first) - Date.parse(b.first)).slice(-versionsMost).map((p) => p.text!.replace(/^---[ \t]*\r?$/gm, '----'));
  if (!texts.length) return 'No text of a prompt of ' + plain(agent) + ' is known: its events have no prompt, or only its hash.';
  let size = 0;
  const outputs = events.filter((e) => e.output && (size += e.output.length) < outputsMost).map((e) => JSON.stringify({ id: e.id, output: e.output }));
  Object.assign(draft, { versions: joined(texts), outputs: outputs.join('\n'), names: [], said: {} });
  keepDraft();
  go(address('/spade', { of: 'texts' }));
  return '';
}
