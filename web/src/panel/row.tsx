// An assertion: its verdict, the reason, the supporting quotes, and a person's label.
import type { CriterionResult, Label, Status } from '../../panel/panel';
import { count } from '../number';
import { Text, plain, shorten } from '../text';
import { quotesOf } from './evidence';
import { newDraft, nonce as newNonce, shownCriteria, shownQuotes, text, type Draft, type Row, type State } from './state';
import { two, type Actions } from './view';

const signs: Record<Status, string> = { pass: '✓', fail: '✕', error: '!', skip: '–', running: '…' };
const words: Record<Status, string> = { pass: 'Pass', fail: 'Fail', error: 'Error', skip: 'Skipped', running: 'Running' };

interface Props { row: Row; state: State; actions: Actions }

export function RowView({ row, state, actions }: Props) {
  const open = state.open.includes(row.key), r = row.result, why = text(r?.reasoning);
  const draft = state.drafts.get(row.key);
  return (
    <li class={'row ' + row.status}>
      <button class="top" aria-expanded={open} onClick={() => state.toggle(row)}>
        <span class="sign" aria-hidden="true">{signs[row.status]}</span>
        <span class="what">
          <span class="hidden">{words[row.status]}: </span><bdi class="name">{plain(shorten(row.id, 200))}</bdi>
          {draft?.state === 'saved' && <span class="muted"> · you: {draft.label}</span>}
          {!open && why && (row.status === 'fail' || row.status === 'error') && <bdi class="why">{plain(shorten(why, 300))}</bdi>}
        </span>
        {typeof r?.score === 'number' && r.score > 0 && r.score < 1 && <span class="num muted">{two(r.score)}</span>}
      </button>
      {open && <Body row={row} state={state} actions={actions} />}
    </li>
  );
}

function Body({ row, state, actions }: Props) {
  const r = row.result, criteria = Array.isArray(r?.criteria) ? r.criteria.filter((c) => c && typeof c === 'object') : [];
  const draft = state.drafts.get(row.key);
  const foot = [text(r?.judge) && 'judge ' + shorten(text(r?.judge), 200), r?.cached && 'cached'].filter(Boolean).join(' · ');
  return (
    <div class="body">
      {row.instruction && <p class="muted"><Long of={row.instruction} /></p>}
      {criteria.length > 0 && (
        <ul class="criteria">
          {criteria.slice(0, shownCriteria).map((c, i) => <Criterion key={i} of={c} />)}
          {criteria.length > shownCriteria && <li class="muted">and {count(criteria.length - shownCriteria)} more criteria</li>}
        </ul>
      )}
      {text(r?.reasoning) && !criteria.some((c) => c.reasoning === r!.reasoning) && <p><Long of={r!.reasoning} /></p>}
      <Quotes row={row} actions={actions} />
      {foot && <p class="muted"><Text of={foot} /></p>}
      {draft && draft.state !== 'closed' ? <Disagree row={row} draft={draft} state={state} actions={actions} />
        : row.status !== 'running' && row.status !== 'skip' && <p><button id={'say-' + row.index} onClick={() => {
          state.drafts.set(row.key, draft ? { ...draft, state: 'typing' } : newDraft(row));
          state.change({ focus: form(row) + ' :checked' });
        }}>{row.status === 'error' ? 'Label' : 'Disagree'}</button></p>}
    </div>
  );
}

// form returns the selector of a row's form.
export const form = (row: Row): string => '#form-' + row.index;

// Long is a judge's text of any length.
function Long({ of }: { of: string }) {
  return <><Text of={shorten(of, 2000)} />{of.length > 2000 && <span class="muted"> {count(of.length - 2000)} more characters</span>}</>;
}

function Criterion({ of: c }: { of: CriterionResult }) {
  const status = c.status in signs ? c.status : 'error';
  return (
    <li class={status}>
      <span class="sign" aria-hidden="true">{signs[status]}</span>
      <span><span class="hidden">{words[status]}: </span><Long of={text(c.criterion)} />{text(c.reasoning) && <span class="muted"> — <Long of={c.reasoning} /></span>}</span>
    </li>
  );
}

function Quotes({ row, actions }: { row: Row; actions: Actions }) {
  if (!row.result) return null;
  const { output } = actions, { quotes, total } = quotesOf(row.result, output ?? '', shownQuotes);
  if (!quotes.length) return null;
  return (
    <ul class="quotes" aria-label="Evidence">
      {quotes.map((q, i) => {
        const shown = '“' + shorten(q.text, 300) + '”';
        if (output === null) return <li key={i}><Text of={shown} /></li>;
        return q.start < 0
          ? <li key={i} class="lost"><Text of={shown} /> <span class="muted">! quote not in output</span></li>
          : <li key={i}><button class="link" title="Show in the output" onClick={() => actions.evidence(row, q.start, q.end)}><Text of={shown} /></button></li>;
      })}
      {total > shownQuotes && <li class="muted">and {count(total - shownQuotes)} more quotes</li>}
    </ul>
  );
}

const labels: [Label, string][] = [['pass', 'pass'], ['fail', 'fail'], ['unsure', 'can’t tell']];

// Disagree is a person's own verdict. The entered text stays until it is stored or
// cancelled.
function Disagree({ row, draft: d, state, actions }: Props & { draft: Draft }) {
  const change = (to: Partial<Draft>) => { Object.assign(d, to); state.changed(); };
  const close = () => { change({ state: 'closed' }); state.change({ focus: '#say-' + row.index }); }; // the text stays
  const id = form(row).slice(1), sending = d.state === 'sending' || d.state === 'undoing';
  if (d.state === 'saved' || d.state === 'undoing') {
    return (
      <div class="form" id={id} role="group" aria-label="Your label">
        <p>Recorded as your label: <b>{labels.find(([l]) => l === d.label)![1]}</b>.{d.note && <> <Long of={d.note} /></>}</p>
        {d.problem && <p class="problem" role="alert">{plain(d.problem)}</p>}
        <button disabled={sending} onClick={() => actions.save(row, d, null)}>{sending ? 'Undoing…' : 'Undo'}</button>
      </div>
    );
  }
  return (
    <form class="form" id={id} aria-label="Your label" onSubmit={(e) => { e.preventDefault(); if (!sending) actions.save(row, d, d.label); }}
      onKeyDown={(e) => {
        if (e.key === 'Escape' && !sending) close();
        if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) e.currentTarget.requestSubmit();
      }}>
      <fieldset disabled={sending}>
        <legend>This should be</legend>
        {labels.map(([label, word]) => <label key={label}><input type="radio" name="label" checked={d.label === label} onChange={() => change({ label, ...renewed(d) })} />{word}</label>)}
        <label class="wide">Why? <textarea maxLength={4000} value={d.note} onInput={(e) => change({ note: e.currentTarget.value, ...renewed(d) })} /></label>
      </fieldset>
      {d.state === 'failed' && <p class="problem" role="alert">{plain(d.problem ?? '')} Your text is still here.</p>}
      <div class="actions">
        <button type="submit" class="primary" disabled={sending}>{d.state === 'sending' ? 'Sending…' : d.state === 'failed' ? 'Try again' : 'Send'}</button>
        <button type="button" disabled={sending} onClick={close}>Close</button>
      </div>
    </form>
  );
}

// renewed gives a failed label that has changed a new nonce: it is another request.
const renewed = (d: Draft): Partial<Draft> => (d.state === 'failed' ? { state: 'typing', nonce: newNonce() } : {});
