// One item: the question, the input, the output, and the person's answer.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Evidence, LabelItem, Place, Said } from '../api';
import { runAddress } from '../http';
import { count } from '../number';
import { StatusMark } from '../parts/status';
import { Output, type Strong } from '../run/output';
import { Long, Vars } from '../run/texts';
import { Text, plain, shorten } from '../text';
import { keyOf } from './api';
import { words, type Desk, type Done, type Held } from './desk';
import { found, joined, most, selected } from './evidence';
import { State } from './notes';

const mostNote = 4000;

interface Props { desk: Desk; item: LabelItem; held?: Held; done?: Done; tools: preact.ComponentChildren; answer: (said: Said) => void }

export function Item({ desk, item, held, done, tools, answer }: Props) {
  const key = keyOf(item), draft = desk.draft(key, done);
  const [strong, mark] = useState<Strong>({ start: -1, turn: 0 });
  const box = useRef<HTMLDivElement>(null), [wrong, say] = useState(''), [some, select] = useState(false);
  const set = (evidence: Place[]) => { say(evidence.length > most ? `A label has at most ${most} places.` : ''); if (evidence.length <= most) desk.write(key, { note: draft.note, evidence }, done); };
  const output = () => box.current?.querySelector('.output') ?? null;
  const addSelected = () => {
    const p = selected(output(), item.output);
    if (!p) return;
    set(joined(draft.evidence, p));
    getSelection()?.removeAllRanges();
  };
  // Touch selection changes in steps, so the person presses a button when the selection is
  // right.
  useEffect(() => {
    const changed = () => select(selected(output(), item.output) !== undefined);
    document.addEventListener('selectionchange', changed);
    return () => document.removeEventListener('selectionchange', changed);
  }, [item]);
  // A new item starts at its top, wherever the previous one was scrolled.
  useEffect(() => {
    say('');
    const top = box.current!.getBoundingClientRect().top;
    if (top < 0) scrollBy(0, top - 8);
    box.current!.querySelector('.output')?.parentElement?.scrollTo(0, 0);
  }, [key]);
  const evidence: Evidence[] = draft.evidence.map((p) => ({ quote: item.output.slice(p.start, p.end), ...p }));
  const pending = desk.pending(key);
  const chosen = pending?.body.label ?? done?.label.label;
  return (
    <div class="item" ref={box} onPointerUp={(e) => { if (e.pointerType === 'mouse' && output()?.contains(e.target as Node)) addSelected(); }}>
      <section class="seen" aria-label="Input and output">
        <h2 class="muted itemname"><Text of={shorten(item.title || item.case, 200)} />{item.title && <> <code>{plain(shorten(item.case, 60))}</code></>}</h2>
        {item.vars.length ? <Vars of={item.vars} /> : <section aria-label="Input"><h3>Input</h3><Long text={item.input} first={2000} /></section>}
        {item.vars.length > 0 && item.prompt && <details><summary>Prompt <span class="muted">{count(item.prompt.length)} characters</span></summary><Long text={item.prompt} /></details>}
        <section class="out" aria-label="Output"><h3>Output</h3>
          <div class="scrolled" tabIndex={0} role="group" aria-label="The output">
            <Output key={key} text={item.output} evidence={evidence} strong={strong} name="output.txt" cut={item.cut?.includes('output') ?? false} href={item.event ? '/v1/events/' + encodeURIComponent(item.event) : runAddress(item.run) + '/results/' + item.index} />
          </div>
        </section>
      </section>
      <section class="asked" aria-label="Question and answer">
        <Question item={item} />
        <State desk={desk} item={item} {...(held ? { held } : {})} answer={answer} />
        <div class="answers" role="group" aria-label="Your answer">
          {(['pass', 'fail', 'unsure'] as Said[]).map((said, i) => (
            <button type="button" key={said} class={'answer ' + said} aria-pressed={chosen === said} onClick={() => answer(said)}><kbd>{i + 1}</kbd> {words[said]}</button>
          ))}
        </div>
        <label class="field note"><span>Note (N)</span>
          <textarea rows={3} maxLength={mostNote} value={draft.note} onInput={(e) => desk.write(key, { note: e.currentTarget.value, evidence: draft.evidence }, done)} />
        </label>
        <Places of={evidence} mark={(e) => mark((s) => ({ start: e.start!, turn: s.turn + 1 }))} drop={(i) => set(draft.evidence.filter((_, n) => n !== i))} />
        {some && <button type="button" onClick={addSelected}>Use the selected text as evidence</button>}
        <Quote add={(quote) => {
          const p = found(item.output, quote, draft.evidence);
          if (p) set(joined(draft.evidence, p));
          else say('This text is not in the output.');
          return p !== undefined;
        }} />
        <p class="said" role="status">{wrong}</p>
        <Judge item={item} done={done} />
        {tools}
        {held && <p class="muted why">Why this item: <Text of={held.why} /></p>}
      </section>
    </div>
  );
}

// Question is the person's question, in the words that the judge was asked.
function Question({ item }: { item: LabelItem }) {
  const text = item.instruction || (item.criteria.length ? '' : item.question);
  return (
    <>
      <h2 class="question">{item.assertion ? (text ? <Text of={shorten(text, 4000)} /> : plain(shorten(item.assertion, 300))) : 'Is this output good?'}</h2>
      {item.criteria.length > 0 && <ul class="asking" aria-label="Criteria">{item.criteria.slice(0, 50).map((c, i) => <li key={i}><Text of={shorten(c, 2000)} /></li>)}</ul>}
      {item.assertion && <p class="muted">Assertion <Text of={shorten(item.assertion, 120)} />{item.criteria.length > 1 && '. Pass means that all criteria hold.'}</p>}
    </>
  );
}

// Places are the parts of the output that support the answer.
function Places({ of, mark, drop }: { of: Evidence[]; mark: (e: Evidence) => void; drop: (i: number) => void }) {
  if (!of.length) return <p class="muted">Select text of the output to mark it as evidence.</p>;
  return (
    <ul class="evidence" aria-label="Evidence">
      {of.map((e, i) => (
        <li key={e.start}>
          <button type="button" class="link" onClick={() => mark(e)} title="Show in the output"><Text of={'“' + shorten(e.quote, 120) + '”'} /></button>
          <button type="button" class="drop" aria-label={'Remove evidence ' + (i + 1)} title="Remove" onClick={() => drop(i)}>×</button>
        </li>
      ))}
    </ul>
  );
}

// Quote adds evidence without a mouse, as typed or pasted text.
function Quote({ add }: { add: (quote: string) => boolean }) {
  const [text, type] = useState('');
  return (
    <details class="quote"><summary>Add a quote</summary>
      <form onSubmit={(e) => { e.preventDefault(); if (add(text)) type(''); }}>
        <label class="field"><span>Text of the output</span><input value={text} onInput={(e) => type(e.currentTarget.value)} /></label>
        <button type="submit" disabled={!text.trim()}>Add</button>
      </form>
    </details>
  );
}

// Judge is the judge's verdict. It is shown at once if the queue allows that, else after
// the answer.
function Judge({ item, done }: { item: LabelItem; done: Done | undefined }) {
  const j = item.judge;
  if (j) return <div class="judgesaid"><h3>The judge said</h3><p><StatusMark status={j.status} /> {j.reason && <Text of={shorten(j.reason, 2000)} />}</p></div>;
  if (!done?.label.judged) return null;
  const status = (['pass', 'fail', 'error', 'skip'] as const).find((s) => s === done.label.judged);
  return status ? <p class="judgesaid">{done.label.judge ? 'The judge said' : 'The check said'} <StatusMark status={status} /></p> : null;
}
