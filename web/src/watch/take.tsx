// From events to a dataset or to a queue of labels, by the filter that selects them.
import { useState } from 'preact/hooks';
import type { ChangedDataset, Problem } from '../api';
import { Failure, ask } from '../load';
import { plural } from '../number';
import { Failed } from '../parts/states';
import { plain } from '../text';
import { Field } from '../pages/filters';
import { problemOf } from '../pages/datasets';

export type Filter = Record<string, string | undefined>;

// queryOf is a filter as the query of GET /v1/events.
export function queryOf(filter: Filter): string {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) if (value) q.set(name, value);
  return q.toString();
}

interface Props { summary: string; button: string; value: string; submit: (name: string) => Promise<preact.ComponentChildren> }

function Form({ summary, button, value, submit }: Props) {
  const [name, set] = useState(value), [busy, setBusy] = useState(false), [problem, say] = useState<Problem>(), [done, finish] = useState<preact.ComponentChildren>();
  const run = async (e: Event) => {
    e.preventDefault();
    setBusy(true);
    say(undefined);
    finish(undefined);
    try { finish(await submit(name.trim())); } catch (e) { say(problemOf(e)); }
    setBusy(false);
  };
  return (
    <details class="take"><summary>{summary}</summary>
      <form class="filterrow" onSubmit={run}>
        <Field label="Name"><input type="text" required maxLength={100} spellcheck={false} autocomplete="off" value={name} onInput={(e) => set(e.currentTarget.value)} /></Field>
        <button type="submit" disabled={busy}>{button}</button>
      </form>
      {problem && <Failed problem={problem} />}
      <div role="status">{done && <p class="remark">{done}</p>}</div>
    </details>
  );
}

// ToDataset adds events to a dataset, which is made if there is none of the name.
export function ToDataset({ filter, events }: { filter?: Filter; events?: string[] }) {
  return <Form summary="Add to a dataset" button="Add cases" value="" submit={async (name) => {
    const path = '/v1/datasets/' + encodeURIComponent(name);
    await ask('PUT', path, { cases: [] }, undefined, { 'If-None-Match': '*' }).catch((e: unknown) => { if (!(e instanceof Failure) || e.problem.status !== 409 && e.problem.status !== 412) throw e; });
    const d = await ask<ChangedDataset>('POST', path + '/cases', events ? { events } : { filter: queryOf(filter ?? {}) });
    return <>{plural(d.added?.length ?? 0, 'case')} added to <a href={'/datasets/' + encodeURIComponent(name)}>{plain(name)}</a>.</>;
  }} />;
}

// ToQueue makes a queue of labels of events.
export function ToQueue({ filter, events, name, summary = 'Label them' }: { filter?: Filter; events?: string[]; name: string; summary?: string }) {
  const start = (name || 'traffic').replace(/[^A-Za-z0-9._-]+/g, '-').slice(0, 60) + '-' + new Date().toISOString().slice(0, 10);
  return <Form summary={summary} button="Make a queue" value={start} submit={async (name) => {
    const q = await ask<{ items: number }>('PUT', '/v1/label-queues/' + encodeURIComponent(name), events ? { events } : { filter: queryOf(filter ?? {}) });
    return <>{plural(q.items, 'item')} to label in <a href={'/label/' + encodeURIComponent(name)}>{plain(name)}</a>.</>;
  }} />;
}
