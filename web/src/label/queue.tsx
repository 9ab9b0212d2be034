// Labelling a queue: its item, the labels so far, and the keys.
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { LabelQueue, Said } from '../api';
import { get, useLoad } from '../load';
import { count, plural } from '../number';
import { CopyLink, Download } from '../parts/actions';
import { Data, Empty, Failed, Skeleton } from '../parts/states';
import { Heading } from '../pages/heading';
import { KeysDialog, typing, useKeys } from '../run/keys';
import { address, change, usePlace } from '../url';
import { AgreementLine } from './agreement';
import { queueAddress } from './api';
import { Desk, type Done } from './desk';
import { DoneList } from './done';
import { Item } from './item';

const keys: [string, string][] = [
  ['1', 'Pass'], ['2', 'Fail'], ['3', 'Can’t tell'], ['S', 'Skip: others may take the item, and it comes back later'], ['U', 'Undo the last label'],
  ['←', 'Item that you labelled before'], ['→', 'Towards the open item'], ['N', 'Write a note'], ['Esc', 'Leave the note'], ['?', 'Show these keys'],
];
const answers: Record<string, Said> = { 1: 'pass', 2: 'fail', 3: 'unsure' };

export function QueuePage({ name }: { name: string }) {
  const about = useLoad((signal) => get<LabelQueue>(queueAddress(name), signal), [name]);
  const q = about.data;
  return (
    <div class="labelpage">
      <Heading title={name} crumb={<a href="/label">Label</a>}>
        {q?.run && <a class="button" href={'/runs/' + encodeURIComponent(q.run)}>The run</a>}
        <CopyLink /><Download href={address('/v1/labels/file', { queue: name })} name="labels.jsonl">Download labels</Download>
      </Heading>
      <Data of={about} what="the queue">{(data) => <Labelling q={data} />}</Data>
      {about.problem?.status === 404 && <p><a href="/label">All queues</a></p>}
    </div>
  );
}

// useDesk returns the desk of a queue, from when the page opens until it closes.
function useDesk(queue: string): Desk {
  const [, again] = useReducer((n: number) => n + 1, 0);
  const [desk] = useState(() => new Desk(queue, () => again(undefined)));
  useEffect(() => {
    void desk.start();
    const leave = () => desk.leave();
    const seen = () => { if (!document.hidden) { desk.touch(); void desk.check(); } };
    const warn = (e: BeforeUnloadEvent) => { if (desk.outbox.length) e.preventDefault(); };
    addEventListener('pagehide', leave);
    addEventListener('beforeunload', warn);
    document.addEventListener('visibilitychange', seen);
    return () => {
      removeEventListener('pagehide', leave);
      removeEventListener('beforeunload', warn);
      document.removeEventListener('visibilitychange', seen);
      desk.stop();
    };
  }, [desk]);
  return desk;
}

function Labelling({ q }: { q: LabelQueue }) {
  const desk = useDesk(q.name);
  const wanted = usePlace().query.get('done') ?? '', now = desk.idNow(wanted); // a changed label has a new id
  const at = now ? desk.done.findIndex((d) => d.label.id === now) : -1;
  const done = at >= 0 ? desk.done[at] : undefined;
  const [keysOn, setKeys] = useKeys(), [help, setHelp] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const open = (d: Done | undefined) => change({ done: d?.label.id ?? '' }, true);
  const previous = () => { if (desk.done[at + 1]) open(desk.done[at + 1]); };
  const next = () => { if (at >= 0) open(at > 0 ? desk.done[at - 1] : undefined); };
  const undo = () => void desk.undo().then((again) => {
    if (again) open({ label: again });
    else if (wanted) open(undefined);
  });
  const item = done ? done.item : desk.held?.item;
  const answer = (said: Said) => { if (item) desk.answer(item, said, done); };
  const skip = () => { if (!done) desk.skip(); };
  useLayoutEffect(() => { if (wanted && now !== wanted) change({ done: now }, true); }, [wanted, now]);
  // A layout effect: a key pressed right after an item is shown must not answer the
  // previous one.
  useLayoutEffect(() => {
    const pressed = (e: KeyboardEvent) => {
      if (e.key === 'Escape' && typing(e.target) && box.current?.contains(e.target as Node)) { (e.target as HTMLElement).blur(); return; }
      if (!keysOn || e.defaultPrevented || e.repeat || e.ctrlKey || e.metaKey || e.altKey || typing(e.target) || help || document.querySelector('dialog[open]')) return;
      const said = answers[e.key], key = e.key.toLowerCase();
      if (said) answer(said);
      else if (key === 's') skip();
      else if (key === 'u') undo();
      else if (e.key === 'ArrowLeft') previous();
      else if (e.key === 'ArrowRight') next();
      else if (key === 'n') box.current?.querySelector<HTMLElement>('textarea')?.focus();
      else if (e.key === '?') setHelp(true);
      else return;
      e.preventDefault();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  });
  const tools = (
    <div class="itemtools" role="group" aria-label="Items">
      <button type="button" onClick={previous} disabled={!desk.done[at + 1]}><span aria-hidden="true">← </span>Previous</button>
      <button type="button" onClick={next} disabled={!done}>Next<span aria-hidden="true"> →</span></button>
      <button type="button" onClick={skip} disabled={!!done || !desk.held}>Skip <kbd>S</kbd></button>
      <button type="button" onClick={undo} disabled={!desk.undos}>Undo <kbd>U</kbd></button>
      <button type="button" class="help" aria-label="Keys" title="Keys (?)" onClick={() => setHelp(true)}>?</button>
    </div>
  );
  return (
    <div ref={box}>
      <Counts desk={desk} q={q} />
      <p class="lastsaid" role="status">{desk.said}</p>
      {wanted && !done ? <p class="muted">{desk.phase === 'loading' ? 'Loading.' : <>This label is not among yours in this queue. <button type="button" class="link" onClick={() => open(undefined)}>Go to the open item</button></>}</p>
        : done ? <Past key={done.label.id} desk={desk} done={done} tools={tools} answer={answer} />
          : <Present desk={desk} q={q} tools={tools} answer={answer} />}
      <AgreementLine a={desk.agreement} />
      <DoneList desk={desk} chosen={now} open={open} />
      <KeysDialog shown={help} hide={() => setHelp(false)} on={keysOn} set={setKeys} list={keys} singles="1, 2, 3, S, U, N, ?, ← and →" />
    </div>
  );
}

// Counts shows the progress of the queue, for this person and in total.
function Counts({ desk, q }: { desk: Desk; q: LabelQueue }) {
  const mine = desk.mine, all = mine + desk.left;
  return (
    <div class="queuecounts num">
      {desk.held && <><progress value={mine} max={Math.max(1, all)} aria-label="Items that you labelled" /> <strong>{count(mine)} of {count(all)}</strong> <span class="muted">labelled by you</span></>}
      <span class="muted">{plural(q.items, 'item')}{q.people > 1 && `, ${q.people} people for each`}{q.blind && ' · the judge’s verdict is hidden until you answer'}</span>
    </div>
  );
}

interface Shown { desk: Desk; tools: preact.ComponentChildren; answer: (said: Said) => void }

// Present is the item to label.
function Present({ desk, q, tools, answer }: Shown & { q: LabelQueue }) {
  const h = desk.held;
  if (h) return <Item desk={desk} item={h.item} held={h} tools={tools} answer={answer} />;
  if (desk.phase === 'failed') return <><Failed problem={desk.problem!} retry={() => void desk.advance()} /><div class="queueactions">{tools}</div></>;
  if (desk.phase === 'loading') return <Skeleton what="the next item" rows={12} />;
  return (
    <>
      <Empty>{desk.done.length || q.done >= q.items ? 'There is nothing left for you to label in this queue.' : 'There is nothing to label for you now. Others may be at the last items.'}</Empty>
      <div class="queueactions">
        {desk.skipped > 0 && <button type="button" onClick={() => desk.back()}>Show the {plural(desk.skipped, 'item')} that you skipped</button>}
        <button type="button" onClick={() => void desk.resume()}>Look again</button>
        <a class="button" href={address('/label', { queue: q.name })}>Agreement</a>
        {tools}
      </div>
    </>
  );
}

// Past is an item that the person labelled before. It can be labelled again.
function Past({ desk, done, tools, answer }: Shown & { done: Done }) {
  const loaded = useLoad(async () => ({ item: await desk.item(done) }), [done.label.id]);
  return <Data of={done.item ? { ...loaded, data: { item: done.item } } : loaded} what="the item">{(d) => <Item desk={desk} item={d.item} done={done} tools={tools} answer={answer} />}</Data>;
}
