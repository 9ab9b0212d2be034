// A run: its facts, above its results.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { BatchJudge, Run } from '../api';
import { HttpSource, runAddress } from '../http';
import { aroundRow } from '../label/disagree';
import { useLoad } from '../load';
import { count, dollars, duration, plural, when } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, sentence } from '../parts/states';
import { RunView } from '../run/view';
import { plain } from '../text';
import { address } from '../url';
import { Heading } from './heading';
import { RunVerdict, active, cutOff, spent } from './verdict';

export function RunPage({ id }: { id: string }) {
  const source = useMemo(() => new HttpSource(id), [id]);
  const run = useLoad(() => source.run(), [source]);
  const going = run.data ? active(run.data) : false;
  useEffect(() => (going ? source.watch(run.retry) : undefined), [going, source]);
  const judges = useJudges(source, run.data);
  const at = '/runs/' + encodeURIComponent(id);
  const around = useMemo(() => aroundRow(id), [id]);
  return (
    <div class="runpage">
      <Heading title={run.data ? run.data.suite || 'unnamed' : 'Run'} crumb={<a href="/runs">Runs</a>} beside={run.data && <RunVerdict run={run.data} />}>
        {run.data && !going && <a class="button" href={address('/compare', { base: 'previous', head: id })}>Compare with the run before</a>}
        {run.data && !going && run.data.progress.failed + run.data.progress.errors > 0 && <a class="button" href={address('/datasets', { run: id })}>Add failures to a dataset</a>}
        {run.data && !going && <a class="button" href={address('/label', { run: id })}>Label this run</a>}
        <CopyLink />
        {!going && <Download href={runAddress(id) + '/file'} name={id + '.jsonl'}>Download run</Download>}
      </Heading>
      <Data of={run} what="the run">{(r) => <><Head run={r} judges={judges} /><Banner run={r} /></>}</Data>
      {run.data && <h2 class="hidden">Results</h2>}
      {run.data && run.data.status !== 'queued' && run.data.status !== 'waiting' && <RunView source={source} extra={{ banner: false, around, outputOf: (index) => runAddress(id) + '/results/' + index }} />}
      {run.problem?.status === 404 && <p>The address is <code>{plain(at)}</code>. The run may have been removed. <a href="/runs">All runs</a></p>}
    </div>
  );
}

// useJudges loads the judges' work after the results of the run are shown, because the
// server takes long to compute it.
function useJudges(source: HttpSource, run: Run | undefined): BatchJudge[] {
  const [judges, set] = useState<BatchJudge[]>([]), ended = run !== undefined && !active(run);
  useEffect(() => {
    if (!ended) return;
    const abort = new AbortController();
    let timer = 0;
    source.matrix().then(() => { timer = setTimeout(() => void source.judges(abort.signal).then(set, () => undefined), 1500) as unknown as number; }, () => undefined);
    return () => { abort.abort(); clearTimeout(timer); };
  }, [source, ended]);
  return judges;
}

function Head({ run, judges }: { run: Run; judges: BatchJudge[] }) {
  const ms = spent(run), v = run.revision;
  const facts: [string, preact.ComponentChildren][] = [
    ['Run', <code>{plain(run.id)}</code>],
    ['Started', when(run.started_at ?? run.created_at)],
  ];
  if (ms !== null) facts.push(['Took', duration(ms)]);
  facts.push(['Cost', dollars(run.cost)]);
  if (v?.branch || v?.commit) facts.push(['Revision', <>{v.branch && plain(v.branch)} {v.commit && <code>{plain(v.commit.slice(0, 8))}</code>}{v.dirty && ' with changes'}{v.pull_request && ' · pull request ' + plain(v.pull_request)}</>]);
  if (run.version) facts.push(['Suite version', <code>{plain(run.version.slice(0, 12))}</code>]);
  for (const d of run.datasets ?? []) facts.push(['Dataset', <a href={address('/datasets/' + encodeURIComponent(d.name), { version: String(d.number) })}>{plain(d.name)}, version {d.number}</a>]);
  if (run.agent_id) facts.push(['Agent', plain(run.agent_id)]);
  for (const j of judges) {
    facts.push(['Judge', <><a href="/judges">{plain(j.judge)}</a> <span class="muted">{plural(j.verdicts, 'verdict')}{j.errors ? ', ' + plural(j.errors, 'error') : ''}{j.cost ? ', ' + dollars(j.cost) : ''}</span></>]);
  }
  return (
    <div class="runhead">
      <dl class="factlist">{facts.map(([name, value], i) => <div key={i}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>
    </div>
  );
}

// Banner shows how far the figures below can be trusted.
function Banner({ run }: { run: Run }) {
  const { finished, rows } = run.progress;
  const so = count(finished) + (rows ? ' of ' + count(rows) : '') + ' results';
  const why = run.error ? ` ${sentence(plain(run.error))}` : '';
  if (run.status === 'queued') return <p class="remark" role="status">The run is queued. This page shows its results as they arrive.{why}</p>;
  if (run.status === 'waiting') return <p class="remark bad" role="status">The run {plain(run.waits ?? 'waits for a worker')}. It starts when such a worker is there.{why}</p>;
  if (run.status === 'running') return <p class="remark" role="status">Running: {so} so far. New results appear without a reload.{why}</p>;
  if (run.status === 'failed') return <p class="remark bad" role="status">The run failed after {so}.{why || ' The server gave no reason.'} The page shows these results.</p>;
  if (run.status === 'cancelled') return <p class="remark bad" role="status">The run was cancelled after {so}.{why} The page shows these results.</p>;
  if (cutOff(run)) return <p class="remark bad" role="status">The run is incomplete: it has {so}. Resume it with <code>proviso eval --resume={plain(run.id)}</code>.</p>;
  return why ? <p class="remark bad" role="status">{why}</p> : null;
}
