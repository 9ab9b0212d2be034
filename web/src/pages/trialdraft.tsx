// The change to a judge under trial: the assertion, the context of the judge, and the
// model. The entered text survives a failed request and a reload.
import { useLayoutEffect, useState } from 'preact/hooks';
import type { Judge, TrialBase, TrialChange } from '../api';
import { ask, get, useLoad, useTask } from '../load';
import { plural } from '../number';
import { Failed } from '../parts/states';
import { keep, typed } from '../parts/typed';
import { plain, shorten } from '../text';
import { change, here } from '../url';
import { Field } from './filters';
import { items, type Items } from './items';
import { Findings, useWording } from './wording';

export const trials = '/v1/judge-trials';

const text = (v: unknown): string => (typeof v === 'string' ? v : '');
const listOf = (v: unknown): unknown[] => (Array.isArray(v) ? v : v === undefined || v === null ? [] : [v]);

// written is a criterion in the form for editing: its text, or a template as JSON.
const written = (c: unknown): string => (typeof c === 'string' ? c : c && typeof c === 'object' && Object.keys(c).join() === 'text' ? text((c as { text: unknown }).text) : JSON.stringify(c));

function read(line: string): unknown {
  if (!line.trim().startsWith('{')) return line;
  try { return JSON.parse(line); } catch { return line; }
}

// Typed has the contents of the fields.
interface Typed { instruction: string; criteria: string[]; value: string; prompt: string; context: string; judge: string }

// stored returns the run's assertion with a change applied.
function stored(d: Record<string, unknown>, from: TrialChange = {}): Typed {
  return {
    instruction: from.instruction ?? text(d.instruction), criteria: listOf(from.criteria ?? d.criteria).map(written), value: from.value ?? text(d.value),
    prompt: from.rubric_prompt ?? text(d.rubricPrompt), context: from.context ?? '', judge: from.judge ?? '',
  };
}

// changeOf returns the differences from the run's assertion.
function changeOf(d: Record<string, unknown>, t: Typed): TrialChange {
  const was = stored(d);
  return {
    ...(t.instruction !== was.instruction ? { instruction: t.instruction } : {}),
    ...(JSON.stringify(t.criteria) !== JSON.stringify(was.criteria) ? { criteria: t.criteria.filter((c) => c.trim()).map(read) } : {}),
    ...(t.value !== was.value ? { value: t.value } : {}), ...(t.prompt !== was.prompt ? { rubric_prompt: t.prompt } : {}),
    ...(t.context ? { context: t.context } : {}), ...(t.judge ? { judge: t.judge } : {}),
  };
}

export function Draft({ base, id, from, may, running }: { base: TrialBase; id: string; from?: TrialChange | undefined; may: boolean; running: boolean }) {
  const d = base.definition!, place = ['workbench', base.run, base.assertion, id].join('/');
  const [now, put] = useState<Typed>(() => ({ ...stored(d, from), ...typed<Typed>(place) }));
  const { busy, problem, run } = useTask();
  const set = (to: Partial<Typed>) => put({ ...now, ...to });
  useLayoutEffect(() => { keep(place, JSON.stringify(now) === JSON.stringify(stored(d, from)) ? undefined : now); }, [now]);
  const judges = useLoad((signal) => get<Items<Judge>>('/v1/judges', signal).then(items), []);
  const known = [...new Set((judges.data ?? []).map((j) => j.judge.split('#')[0]!))].filter((id) => id && !id.includes('+')).slice(0, 100);
  const rubric = typeof d.type === 'string' && !/^(not-)?judge$/.test(d.type);
  const made = changeOf(d, now), criteria = now.criteria.flatMap((c, i) => (c.trim() ? [i] : []));
  const wording = useWording(rubric || (!now.instruction.trim() && !criteria.length) ? undefined
    : { id: shorten(base.assertion, 200), instruction: now.instruction, criteria: criteria.map((i) => read(now.criteria[i]!)) });
  // A finding's pointer counts only the criteria that are not empty.
  const at = (i: number) => wording.found.filter((f) => f.pointer === '/criteria/' + criteria.indexOf(i) || f.pointer?.startsWith('/criteria/' + criteria.indexOf(i) + '/'));
  const rest = wording.found.filter((f) => !/^\/criteria\/\d/.test(f.pointer ?? ''));
  const start = () => run(async () => {
    const { id } = await ask<{ id: string }>('POST', trials, { run: base.run, assertion: base.assertion, change: made });
    keep(place, undefined);
    if (here().path.endsWith('/workbench')) change({ trial: id, flips: '' });
  });
  return (
    <form class="bench" aria-label="Change" onSubmit={(e) => { e.preventDefault(); void start(); }}>
      {!rubric && <div><Field label="Instruction"><textarea rows={2} value={now.instruction} onInput={(e) => set({ instruction: e.currentTarget.value })} /></Field><Findings of={rest} label="Wording of the assertion" /></div>}
      {!rubric && <fieldset><legend>Criteria</legend>
        {now.criteria.map((c, i) => (
          <div key={i} class="criterion">
            <div><textarea rows={2} aria-label={`Criterion ${i + 1}`} value={c} onInput={(e) => set({ criteria: now.criteria.map((x, k) => (k === i ? e.currentTarget.value : x)) })} /><Findings of={c.trim() ? at(i) : []} label={`Wording of criterion ${i + 1}`} /></div>
            <button type="button" aria-label={`Remove criterion ${i + 1}`} onClick={() => set({ criteria: now.criteria.filter((_, k) => k !== i) })}>Remove</button>
          </div>
        ))}
        <button type="button" onClick={() => set({ criteria: [...now.criteria, ''] })}>Add a criterion</button></fieldset>}
      {rubric && <Field label="Rubric"><textarea rows={4} value={now.value} onInput={(e) => set({ value: e.currentTarget.value })} /></Field>}
      {rubric && <Field label="Prompt of the judge (empty: the usual one)"><textarea rows={4} value={now.prompt} onInput={(e) => set({ prompt: e.currentTarget.value })} /></Field>}
      <Field label="Context that the judge may look at, such as sources; {{name}} is a variable of the case"><textarea rows={2} value={now.context} onInput={(e) => set({ context: e.currentTarget.value })} /></Field>
      <Field label="Model (empty: the judge of this server)"><input type="text" list="bench-models" value={now.judge} onInput={(e) => set({ judge: e.currentTarget.value.trim() })} /></Field>
      <datalist id="bench-models">{known.map((id) => <option key={id} value={id} />)}</datalist>
      {wording.failed && <p class="muted" role="status">The wording could not be checked: {plain(shorten(wording.failed, 300))}</p>}
      {problem && <Failed problem={problem} />}
      <p class="benchactions">
        <button type="submit" disabled={!may || busy || running}>Judge again</button>
        <button type="button" onClick={() => { keep(place, undefined); change({ trial: '', flips: '' }); put(stored(d)); }}>Discard the change</button>
        <span class="muted">{!may ? 'This needs a key with the scope evaluate.' : Object.keys(made).length ? `Asks the model about ${plural(Math.min(500, base.labels), 'output')}.` : 'Nothing is changed yet. Judging again without a change shows how much the judge varies.'}</span>
      </p>
    </form>
  );
}
