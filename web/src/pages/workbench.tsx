// The workbench of a judge: change an assertion or the model, judge the labelled outputs
// again, and see on a held-out half whether it agrees better with people.
import '../frame';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Judge, Page, Problem, Run, Session, Trial, TrialBase, TrialChange } from '../api';
import { Failure, ask, get, heard, useLoad } from '../load';
import { count, dollars, plural, when } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty, Failed } from '../parts/states';
import { eventsOf } from '../panel/events';
import { plain, shorten } from '../text';
import { address, change, here, usePlace } from '../url';
import { Field } from './filters';
import { Heading } from './heading';
import { items, type Items } from './items';
import { Keep } from './keep';
import { Result } from './trial';

const trials = '/v1/judge-trials';

export default function Workbench() {
  const { path, query } = usePlace();
  const judge = decoded(/^\/judges\/(.+)\/workbench\/*$/.exec(path)?.[1] ?? '');
  const run = query.get('run') ?? '', assertion = query.get('assertion') ?? '', trial = query.get('trial') ?? '';
  const at = address(trials, { run, assertion });
  const session = useLoad((signal) => get<Session>('/v1/session', signal), []);
  return (
    <>
      <Heading title="Judge workbench" crumb={<><a href="/judges">Judges</a> / <a href={address('/judges', { judge })}>{plain(judge)}</a></>}>
        <CopyLink />{trial && <Download href={trials + '/' + encodeURIComponent(trial)} name="trial.json">Download JSON</Download>}
      </Heading>
      <Data of={session} what="the session">{(s) => (s.mode === 'view'
        ? <Empty command="proviso serve">A changed judge asks a model, which this read-only page does not do. Push the run to a server:</Empty>
        : run ? <Labelled key={at} at={at} may={s.scopes.some((x) => x === 'evaluate' || x === 'admin')} /> : <Runs />)}</Data>
    </>
  );
}

function decoded(part: string): string {
  try { return decodeURIComponent(part); } catch { return part; }
}

// Runs chooses the run whose labels count.
function Runs() {
  const runs = useLoad((signal) => get<Page<Run>>('/v1/runs?limit=200', signal), []);
  return (
    <Data of={runs} what="runs">{(list) => (list.items.length
      ? <Field label="Run with labels"><select value="" onChange={(e) => change({ run: e.currentTarget.value })}>
        <option value="">Choose a run</option>
        {list.items.map((r) => <option key={r.id} value={r.id}>{[shorten(plain(r.suite), 40), when(r.started_at ?? r.created_at), plain(r.id)].join(' · ')}</option>)}
      </select></Field>
      : <Empty command="proviso eval -c suite.yaml">There are no runs yet.</Empty>)}</Data>
  );
}

function Labelled({ at, may }: { at: string; may: boolean }) {
  const { query } = usePlace();
  const run = query.get('run') ?? '', assertion = query.get('assertion') ?? '';
  const loaded = useLoad((signal) => get<TrialBase>(at, signal), [at]);
  const only = loaded.data?.assertions.length === 1 ? loaded.data.assertions[0]!.assertion : '';
  useEffect(() => { if (!assertion && only) change({ assertion: only }, true); }, [assertion, only]);
  return (
    <Data of={loaded} what="the labels">{(base) => (
      <>
        <div class="filterrow">
          <Field label="Assertion with labels"><select value={assertion} onChange={(e) => change({ assertion: e.currentTarget.value, trial: '', flips: '' })}>
            <option value="">Choose an assertion</option>
            {assertion && !base.assertions.some((a) => a.assertion === assertion) && <option value={assertion}>{plain(shorten(assertion, 80))}</option>}
            {base.assertions.map((a) => <option key={a.assertion} value={a.assertion}>{plain(shorten(a.assertion, 80))} · {plural(a.labels, 'label')}</option>)}
          </select></Field>
          <span class="muted">of the run <a href={'/runs/' + encodeURIComponent(run)}>{plain(run)}</a></span>
        </div>
        {!base.assertions.length ? <Empty>No output of this run has a label on which most people agree. Label some outputs first: about 100 show a difference between two judges.</Empty>
          : !assertion ? <p class="muted">Choose an assertion to change its instruction, its criteria or its judge.</p> : !base.definition ? <Empty>No output has a label on this assertion on which most people agree.</Empty>
            : <Bench key={run + '\n' + assertion} base={base} may={may} />}
      </>
    )}</Data>
  );
}

function Bench({ base, may }: { base: TrialBase; may: boolean }) {
  const id = usePlace().query.get('trial') ?? '';
  const trial = useTrial(id);
  const t = trial.data;
  return (
    <>
      <p class="muted">{plural(base.labels, 'labelled output')}: {count(base.good)} good, {count(base.labels - base.good)} bad. {count(base.work_labels)} to work on, {count(base.held_out_labels)} held out; a case never changes halves.</p>
      <Draft key={t?.id ?? 'new'} base={base} from={t?.change} may={may} running={t?.status === 'running'} />
      {id && <Data of={trial} what="the trial">{(t) => (
        <>
          {t.status === 'running' && <div class="banner going" role="status"><strong>Judging again.</strong> <span class="num">{count(t.done)} of {count(t.total)} outputs{t.errors > 0 && ', ' + plural(t.errors, 'error')}, {dollars(t.cost)}</span> <progress value={t.done} max={Math.max(1, t.total)} aria-label="Outputs so far" /> <Cancel id={id} /></div>}
          {t.status === 'cancelled' && <p class="remark" role="status">– Cancelled after {count(t.done)} of {plural(t.total, 'output')}. Nothing is compared.</p>}
          {t.status === 'failed' && <p class="remark bad" role="alert"><span class="status error"><span aria-hidden="true">! </span>Error:</span> {plain(t.error ?? '')}. Nothing is compared.</p>}
          {t.result && <><Result trial={t} result={t.result} /><Keep result={t.result} name={t.assertion} judge={t.change.judge} /></>}
        </>
      )}</Data>}
    </>
  );
}

function Cancel({ id }: { id: string }) {
  return <button type="button" onClick={() => void ask('DELETE', trials + '/' + encodeURIComponent(id)).catch(() => undefined)}>Cancel</button>;
}

// useTrial loads a trial, and again with each of its events until it has ended.
function useTrial(id: string) {
  const at = trials + '/' + encodeURIComponent(id);
  const loaded = useLoad((signal) => (id ? get<Trial>(at, signal) : new Promise<Trial>(() => undefined)), [id]);
  const retry = useRef(loaded.retry);
  retry.current = loaded.retry;
  const running = loaded.data?.status === 'running';
  useEffect(() => {
    if (!id || !running) return;
    const stop = new AbortController();
    void (async () => {
      for (let wait = 500; !stop.signal.aborted; wait = Math.min(2 * wait, 10_000)) {
        try {
          const reply = await fetch(at + '/events', { signal: stop.signal });
          heard.forEach((f) => f(reply.status));
          if (reply.ok && reply.body) for await (const _ of eventsOf(reply.body)) retry.current();
        } catch {
          if (!stop.signal.aborted) heard.forEach((f) => f(0));
        }
        await new Promise((done) => setTimeout(done, wait));
        if (!stop.signal.aborted) retry.current();
      }
    })();
    return () => stop.abort();
  }, [id, running]);
  return loaded;
}

const text = (v: unknown): string => (typeof v === 'string' ? v : '');

// written is a criterion as it is edited: its text, or a template as JSON.
const written = (c: unknown): string => (typeof c === 'string' ? c : c && typeof c === 'object' && Object.keys(c).join() === 'text' ? text((c as { text: unknown }).text) : JSON.stringify(c));

function read(line: string): unknown {
  if (!line.trim().startsWith('{')) return line;
  try { return JSON.parse(line); } catch { return line; }
}

// Draft is what is changed. It stays when a request fails.
function Draft({ base, from, may, running }: { base: TrialBase; from?: TrialChange | undefined; may: boolean; running: boolean }) {
  const d = base.definition!;
  const listOf = (v: unknown): unknown[] => (Array.isArray(v) ? v : v === undefined || v === null ? [] : [v]);
  const [instruction, setInstruction] = useState(from?.instruction ?? text(d.instruction));
  const [criteria, setCriteria] = useState(listOf(from?.criteria ?? d.criteria).map(written));
  const [value, setValue] = useState(from?.value ?? text(d.value));
  const [prompt, setPrompt] = useState(from?.rubric_prompt ?? text(d.rubricPrompt));
  const [judge, setJudge] = useState(from?.judge ?? '');
  const [busy, setBusy] = useState(false), [problem, setProblem] = useState<Problem>();
  const judges = useLoad((signal) => get<Items<Judge>>('/v1/judges', signal).then(items), []);
  const known = [...new Set((judges.data ?? []).map((j) => j.judge.split('#')[0]!))].filter((id) => id && !id.includes('+')).slice(0, 100);
  const rubric = typeof d.type === 'string' && !/^(not-)?judge$/.test(d.type);
  const set = (i: number, line: string) => setCriteria(criteria.map((c, k) => (k === i ? line : c)));
  const made: TrialChange = {
    ...(instruction !== text(d.instruction) ? { instruction } : {}),
    ...(JSON.stringify(criteria) !== JSON.stringify(listOf(d.criteria).map(written)) ? { criteria: criteria.filter((c) => c.trim()).map(read) } : {}),
    ...(value !== text(d.value) ? { value } : {}), ...(prompt !== text(d.rubricPrompt) ? { rubric_prompt: prompt } : {}), ...(judge ? { judge } : {}),
  };
  const start = async () => {
    setBusy(true);
    setProblem(undefined);
    try {
      const { id } = await ask<{ id: string }>('POST', trials, { run: base.run, assertion: base.assertion, change: made });
      if (here().path.endsWith('/workbench')) change({ trial: id, flips: '' });
    } catch (e) {
      setProblem(e instanceof Failure ? e.problem : { type: '', title: 'The answer cannot be read', status: -1, detail: String(e) });
    }
    setBusy(false);
  };
  return (
    <form class="bench" aria-label="Change" onSubmit={(e) => { e.preventDefault(); void start(); }}>
      {!rubric && <Field label="Instruction"><textarea rows={2} value={instruction} onInput={(e) => setInstruction(e.currentTarget.value)} /></Field>}
      {!rubric && <fieldset><legend>Criteria</legend>
        {criteria.map((c, i) => <div key={i} class="criterion"><textarea rows={2} aria-label={`Criterion ${i + 1}`} value={c} onInput={(e) => set(i, e.currentTarget.value)} /><button type="button" aria-label={`Remove criterion ${i + 1}`} onClick={() => setCriteria(criteria.filter((_, k) => k !== i))}>Remove</button></div>)}
        <button type="button" onClick={() => setCriteria([...criteria, ''])}>Add a criterion</button></fieldset>}
      {rubric && <Field label="Rubric"><textarea rows={4} value={value} onInput={(e) => setValue(e.currentTarget.value)} /></Field>}
      {rubric && <Field label="Prompt of the judge (empty: the usual one)"><textarea rows={4} value={prompt} onInput={(e) => setPrompt(e.currentTarget.value)} /></Field>}
      <Field label="Model (empty: the judge of this server)"><input type="text" list="bench-models" value={judge} onInput={(e) => setJudge(e.currentTarget.value.trim())} /></Field>
      <datalist id="bench-models">{known.map((id) => <option key={id} value={id} />)}</datalist>
      {problem && <Failed problem={problem} />}
      <p class="benchactions">
        <button type="submit" disabled={!may || busy || running}>Judge again</button>
        <button type="button" onClick={() => { change({ trial: '', flips: '' }); setInstruction(text(d.instruction)); setCriteria(listOf(d.criteria).map(written)); setValue(text(d.value)); setPrompt(text(d.rubricPrompt)); setJudge(''); }}>Discard the change</button>
        <span class="muted">{!may ? 'This needs a key with the scope evaluate.' : Object.keys(made).length ? `Asks the model about ${plural(Math.min(500, base.labels), 'output')}.` : 'Nothing is changed yet. Judging again without a change shows how much the judge varies.'}</span>
      </p>
    </form>
  );
}
