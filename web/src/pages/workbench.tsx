// The workbench of a judge: change an assertion or the model, judge the labelled outputs
// again, and see on a held-out half whether the judge agrees better with people.
import '../frame';
import { useEffect, useRef } from 'preact/hooks';
import type { Page, Run, Session, Trial, TrialBase } from '../api';
import { follow } from '../follow';
import { ask, get, useLoad } from '../load';
import { count, dollars, plural, when } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty } from '../parts/states';
import { plain, shorten } from '../text';
import { address, change, decoded, usePlace } from '../url';
import { Field } from './filters';
import { Heading } from './heading';
import { Keep } from './keep';
import { Result } from './trial';
import { Draft, trials } from './trialdraft';

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

// Runs selects the run whose labels are used.
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
      <Draft key={t?.id ?? 'new'} id={t?.id ?? 'new'} base={base} from={t?.change} may={may} running={t?.status === 'running'} />
      {id && <Data of={trial} what="the trial">{(t) => (
        <>
          {t.status === 'running' && <div class="banner going" role="status"><strong>Judging again.</strong> <span class="num">{count(t.done)} of {count(t.total)} outputs{t.errors > 0 && ', ' + plural(t.errors, 'error')}, {dollars(t.cost)}</span> <progress value={t.done} max={Math.max(1, t.total)} aria-label="Outputs so far" /> <Cancel id={id} /></div>}
          {t.status === 'cancelled' && <p class="remark" role="status">– Cancelled after {count(t.done)} of {plural(t.total, 'output')}. Nothing is compared.</p>}
          {t.status === 'failed' && <p class="remark bad" role="alert"><span class="status error"><span aria-hidden="true">! </span>Error:</span> {plain(t.error ?? '')}. Nothing is compared.</p>}
          {t.result && <><Result trial={t} result={t.result} /><Keep result={t.result} name={t.assertion} judge={t.change.judge} context={t.change.context} /></>}
        </>
      )}</Data>}
    </>
  );
}

function Cancel({ id }: { id: string }) {
  return <button type="button" onClick={() => void ask('DELETE', trials + '/' + encodeURIComponent(id)).catch(() => undefined)}>Cancel</button>;
}

// useTrial loads a trial, and reloads it at each of its events until it has ended.
function useTrial(id: string) {
  const at = trials + '/' + encodeURIComponent(id);
  const loaded = useLoad((signal) => (id ? get<Trial>(at, signal) : new Promise<Trial>(() => undefined)), [id]);
  const retry = useRef(loaded.retry);
  retry.current = loaded.retry;
  const running = loaded.data?.status === 'running';
  useEffect(() => {
    if (!id || !running) return;
    const stop = new AbortController();
    void (async () => { for await (const _ of follow(at, stop.signal)) retry.current(); })();
    return () => stop.abort();
  }, [id, running]);
  return loaded;
}
