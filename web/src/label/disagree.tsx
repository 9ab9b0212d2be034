// Labels at the verdicts of a run, and a form to disagree.
import { createContext, type ComponentChildren, type ComponentType } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { DetailAssertion, Label, Said, Session } from '../api';
import { Failure, get, useLoad } from '../load';
import { Labelled } from '../run/labelled';
import { Text, plain, shorten } from '../text';
import { add, labelsOf, newKey, remove } from './api';

const words: Record<Said, string> = { pass: 'pass', fail: 'fail', unsure: 'can’t tell' };

// Row is what is known about the labels on a row.
interface Row { run: string; index: number; labels: Label[]; mine: Label[]; added: (l: Label) => void; removed: (id: string) => void }

const RowContext = createContext<Row | undefined>(undefined);

// opened means that labels were shown before. The first labels load after the page, later
// ones only for rows where the person stays.
let opened = false;

// who requests once whether this browser may label.
let session: Promise<Session> | undefined;
const who = (): Promise<Session> => (session ??= get<Session>('/v1/session').catch((e: unknown) => { session = undefined; throw e; }));

// aroundRow returns an element that surrounds a run's row and loads the row's labels.
export function aroundRow(run: string): ComponentType<{ row: number; children: ComponentChildren }> {
  return function AroundRow({ row, children }) {
    const [calm, rest] = useState(-1);
    useEffect(() => {
      const timer = setTimeout(() => { opened = true; rest(row); }, opened ? 250 : 1500);
      return () => clearTimeout(timer);
    }, [row]);
    const loaded = useLoad(async (signal) => (calm === row ? labelsOf(run, row, signal) : undefined), [run, row, calm]);
    const [own, set] = useState<{ mine: Label[]; gone: string[] }>({ mine: [], gone: [] });
    useEffect(() => set({ mine: [], gone: [] }), [row]);
    const mine = own.mine.filter((l) => l.index === row);
    const replaced = (l: Label) => mine.some((m) => m.by === l.by && m.assertion === l.assertion);
    const labels = [...mine, ...(loaded.data?.items ?? []).filter((l) => !replaced(l))].filter((l) => !own.gone.includes(l.id));
    const value: Row = {
      run, index: row, labels, mine,
      added: (l) => set((o) => ({ ...o, mine: [l, ...o.mine.filter((m) => m.assertion !== l.assertion)] })),
      removed: (id) => { set((o) => ({ mine: o.mine.filter((m) => m.id !== id), gone: [...o.gone, id] })); loaded.retry(); },
    };
    return <RowContext.Provider value={value}><Labelled.Provider value={Labels}>{children}</Labelled.Provider></RowContext.Provider>;
  };
}

// summary counts what people decided: "2 people: fail".
function summary(list: Label[]): string {
  return (['fail', 'pass', 'unsure'] as Said[]).flatMap((said) => {
    const n = list.filter((l) => l.label === said).length;
    return n ? [(n === 1 ? '1 person: ' : n + ' people: ') + words[said]] : [];
  }).join(' · ');
}

function Labels({ of, brief }: { of: DetailAssertion; brief?: boolean }) {
  const row = useContext(RowContext);
  const [open, set] = useState(false), opener = useRef<HTMLButtonElement>(null), [sent, say] = useState('');
  if (!row) return null;
  const list = row.labels.filter((l) => l.assertion === of.name);
  const said = summary(list);
  if (brief) return said ? <span class="muted"> · {said}</span> : null;
  const mine = row.mine.find((l) => l.assertion === of.name);
  const close = () => { set(false); requestAnimationFrame(() => opener.current?.focus()); };
  const begin = () => {
    say('');
    who().then((s) => {
      if (s.scopes.some((x) => x === 'label' || x === 'admin')) set(true);
      else say('Your key may not label: it needs the scope label.');
    }, (e: unknown) => say(detail(e)));
  };
  const undo = () => {
    remove(mine!.id).then(() => { row.removed(mine!.id); say('Undone.'); close(); }, (e: unknown) => say('Not undone: ' + detail(e)));
  };
  return (
    <div class="labelled">
      {said && <p><strong>{said}</strong> <span class="muted">{list.slice(0, 5).map((l) => plain(shorten(l.name || l.by, 40))).join(', ')}{list.length > 5 && ` and ${list.length - 5} more`}</span></p>}
      {list.some((l) => l.note) && <ul>{list.filter((l) => l.note).slice(0, 3).map((l) => <li key={l.id} class="muted"><Text of={'“' + shorten(l.note!, 300) + '”'} /></li>)}</ul>}
      {open && <Form of={of} row={row} close={close} sent={(l) => { row.added(l); say('Recorded as your label: ' + words[l.label] + '.'); close(); }} />}
      {!open && <p>
        <button type="button" ref={opener} onClick={begin}>{of.status === 'pass' || of.status === 'fail' ? 'Disagree' : 'Label'}<span class="hidden"> with the verdict on {plain(shorten(of.name, 80))}</span></button>{' '}
        <span role="status">{sent}</span> {mine && <button type="button" onClick={undo}>Undo</button>}
      </p>}
    </div>
  );
}

const detail = (e: unknown): string => (e instanceof Failure ? e.problem.detail : String(e));

// Form asks for the right verdict and the reason. It keeps the entered text until it is
// sent.
function Form({ of, row, close, sent }: { of: DetailAssertion; row: Row; close: () => void; sent: (l: Label) => void }) {
  const [said, choose] = useState<Said>(of.status === 'fail' ? 'pass' : of.status === 'pass' ? 'fail' : 'unsure');
  const [note, type] = useState(''), [busy, work] = useState(false), [wrong, say] = useState('');
  const key = useRef(newKey()), first = useRef<HTMLTextAreaElement>(null);
  useEffect(() => first.current?.focus(), []);
  const send = (e: Event) => {
    e.preventDefault();
    if (busy) return;
    work(true);
    add({ run: row.run, index: row.index, assertion: of.name, label: said, ...(note.trim() ? { note } : {}) }, key.current).then(sent, (x: unknown) => {
      work(false);
      say('Not saved: ' + (x instanceof Failure ? detail(x) : 'the server does not reply.'));
    });
  };
  const changed = () => { key.current = newKey(); }; // a changed label is a new request
  return (
    <form class="disagree" onSubmit={send} onKeyDown={(e) => { if (e.key === 'Escape') { e.preventDefault(); e.stopPropagation(); close(); } }}>
      <div role="radiogroup" aria-label="It should be">
        <span class="muted">It should be </span>
        {(['pass', 'fail', 'unsure'] as Said[]).map((s) => <label key={s}><input type="radio" name={'said-' + row.index} checked={said === s} onChange={() => { choose(s); changed(); }} /> {words[s]}</label>)}
      </div>
      <label class="field"><span>Why?</span><textarea ref={first} rows={2} maxLength={4000} value={note} onInput={(e) => { type(e.currentTarget.value); changed(); }} /></label>
      <button type="submit" disabled={busy}>Send</button> <button type="button" onClick={close}>Cancel</button> <span role="status">{wrong}</span>
    </form>
  );
}
