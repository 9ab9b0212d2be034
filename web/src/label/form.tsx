// The form that makes a queue from a run.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { LabelQueue, Matrix, NewLabelQueue, Page, Problem, Run, Session } from '../api';
import { runAddress } from '../http';
import { Failure, ask, get, useLoad } from '../load';
import { plural, when } from '../number';
import { Failed } from '../parts/states';
import { Field } from '../pages/filters';
import { active } from '../pages/verdict';
import { plain, shorten } from '../text';
import { change, go } from '../url';
import { queueAddress } from './api';

const recent = 100, listed = 300;

// nameOf suggests a name for a run's queue.
const nameOf = (r: Run): string => ((r.suite || 'run').toLowerCase().replace(/[^a-z0-9._-]+/g, '-').replace(/^[^a-z0-9]+|-+$/g, '').slice(0, 40) || 'run') + '-' + (r.started_at ?? r.created_at).slice(0, 10);

const whole = (text: string): number | undefined => (/^\d{1,6}$/.test(text.trim()) ? Number(text) : undefined);

export function QueueForm({ run, known, close }: { run: string; known: LabelQueue[]; close: () => void }) {
  const runs = useLoad((signal) => get<Page<Run>>('/v1/runs?limit=' + recent, signal).then((p) => p.items.filter((r) => !active(r))), []);
  const one = useLoad((signal) => (run ? get<Run>(runAddress(run) + '?results=no', signal) : Promise.resolve(undefined)), [run]);
  const list = [...(one.data && !runs.data?.some((r) => r.id === run) ? [one.data] : []), ...(runs.data ?? [])];
  const chosen = list.find((r) => r.id === run);
  return (
    <section class="queueform" aria-labelledby="new-queue">
      <h2 id="new-queue">New queue</h2>
      {runs.problem && (runs.problem.status === 403 ? <p class="remark bad">Your key may not see runs. Somebody with the scope <code>read</code> makes the queues.</p> : <Failed problem={runs.problem} retry={runs.retry} />)}
      {one.problem && <Failed problem={one.problem} retry={one.retry} />}
      <Field label="Run">
        <select value={chosen ? run : ''} onChange={(e) => change({ run: e.currentTarget.value, new: 'yes' })}>
          <option value="">{runs.data && !list.length ? 'There is no run that has ended' : 'Choose a run'}</option>
          {list.map((r) => <option key={r.id} value={r.id}>{plain(shorten(r.suite || 'unnamed', 60))}, {when(r.started_at ?? r.created_at)}, {plural(r.progress.finished, 'result')}</option>)}
        </select>
      </Field>
      {chosen ? <Choices key={chosen.id} run={chosen} known={known} close={close} /> : <button type="button" onClick={close}>Cancel</button>}
    </section>
  );
}

function Choices({ run, known, close }: { run: Run; known: LabelQueue[]; close: () => void }) {
  const [name, setName] = useState(() => nameOf(run)), [picked, pick] = useState<string[]>([]), [some, setSome] = useState(false);
  const [size, setSize] = useState(''), [random, setRandom] = useState('30'), [people, setPeople] = useState('1'), [blind, setBlind] = useState(true);
  const [problem, fail] = useState<Problem>(), [busy, work] = useState(false);
  const first = useRef<HTMLInputElement>(null), view = useLoad((signal) => get<Session>('/v1/session', signal), []).data?.mode === 'view';
  useEffect(() => first.current?.focus(), []);
  const replaces = known.find((q) => q.name === name.trim());
  const wrong = !name.trim() ? 'Give the queue a name.' : size.trim() && !whole(size) ? 'The size is a number from 1, or empty for all.' : whole(random) === undefined ? 'How many are drawn at random is a number from 0.'
    : !whole(people) ? 'The number of people is from 1 to 100.' : some && !picked.length ? 'Choose an assertion.' : '';
  const make = (e: Event) => {
    e.preventDefault();
    if (wrong || busy) return;
    work(true);
    fail(undefined);
    const body: NewLabelQueue = { run: run.id, random: whole(random)!, blind, people: whole(people)!, ...(size.trim() ? { size: whole(size)! } : {}), ...(some ? { assertions: picked } : {}) };
    ask<LabelQueue>('PUT', queueAddress(name.trim()), body).then(
      (q) => go('/label/' + encodeURIComponent(q.name)),
      (e: unknown) => {
        work(false);
        // Without a model's verdicts, only the whole output can be labelled. The form opens
        // with that choice.
        if (!some && e instanceof Failure && /no verdict of a model/.test(e.problem.detail)) { setSome(true); if (!picked.length) pick(['']); }
        fail(e instanceof Failure ? e.problem : { type: '', title: 'Not made', status: 0, detail: String(e) });
      },
    );
  };
  return (
    <form onSubmit={make}>
      <Field label="Name"><input ref={first} value={name} maxLength={120} onInput={(e) => setName(e.currentTarget.value)} /></Field>
      {problem && <Failed problem={problem} />}
      <fieldset>
        <legend>What people decide</legend>
        <label><input type="radio" name="what" checked={!some} onChange={() => setSome(false)} /> Everything that a model judged</label>
        <label><input type="radio" name="what" checked={some} onChange={() => setSome(true)} /> Assertions that I choose</label>
        {some && <Names run={run.id} picked={picked} pick={pick} />}
      </fieldset>
      <div class="filterrow">
        <Field label="Maximum number of items"><input inputMode="numeric" value={size} placeholder="all" onInput={(e) => setSize(e.currentTarget.value)} /></Field>
        <Field label="Drawn at random"><input inputMode="numeric" value={random} aria-describedby="random-why" onInput={(e) => setRandom(e.currentTarget.value)} /></Field>
        <Field label="People for each item"><input inputMode="numeric" value={people} onInput={(e) => setPeople(e.currentTarget.value)} /></Field>
      </div>
      <p class="muted" id="random-why">Items drawn at random come first: they show how often the judge is right. Then come the items whose labels are the most informative.</p>
      <label class="option"><input type="checkbox" checked={blind} onChange={(e) => setBlind(e.currentTarget.checked)} /> Hide the judge’s verdict until a person has answered</label>
      {view && <p class="muted">A queue ends with <code>proviso view</code>; its labels stay. The same queue, made again, continues where it was.</p>}
      {replaces && <p class="remark bad">There is a queue of this name. It is replaced. Its labels stay.</p>}
      <div class="queueactions">
        <button type="submit" disabled={!!wrong || busy}>{replaces ? 'Replace the queue' : 'Make the queue'}</button>
        <button type="button" onClick={close}>Cancel</button>
        <span class="said" role="status">{wrong}</span>
      </div>
    </form>
  );
}

// Names offers the assertions of a run, and the whole output.
function Names({ run, picked, pick }: { run: string; picked: string[]; pick: (list: string[]) => void }) {
  const matrix = useLoad((signal) => get<Matrix>(runAddress(run) + '/matrix', signal), [run]);
  const toggle = (name: string) => pick(picked.includes(name) ? picked.filter((n) => n !== name) : [...picked, name]);
  if (matrix.problem) return <Failed problem={matrix.problem} retry={matrix.retry} />;
  if (!matrix.data) return <p class="muted" role="status">Loading the assertions</p>;
  return (
    <div class="names" role="group" aria-label="Assertions">
      <label><input type="checkbox" checked={picked.includes('')} onChange={() => toggle('')} /> The whole output</label>
      {matrix.data.assertions.slice(0, listed).map((name, i) => (
        <label key={i}><input type="checkbox" checked={picked.includes(name)} onChange={() => toggle(name)} /> {plain(shorten(name, 120))} {matrix.data!.types[i] !== name && <span class="muted">{plain(matrix.data!.types[i] ?? '')}</span>}</label>
      ))}
      {matrix.data.assertions.length > listed && <p class="muted">The first {listed} assertions are listed.</p>}
    </div>
  );
}
