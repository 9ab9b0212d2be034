// Parts of the spade page that show a server answer.
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Said, SpadeAnswer, SpadeCandidate, SpadeOutput, SpadeSentence } from '../api';
import { Failure, ask } from '../load';
import { count, plural } from '../number';
import { Empty, sentence } from '../parts/states';
import { Text, plain, shorten, visible } from '../text';
import { address, change, here, usePlace } from '../url';
import { Difference } from './difference';
import { Field } from './filters';
import { SaveFile } from './spadesave';

// link returns the address of this page with other parameters.
function link(params: Record<string, string>): string {
  const { path, query } = here();
  for (const [name, value] of Object.entries(params)) query.set(name, value);
  return address(path, query);
}

// Summary shows what is selected and how good the selection is.
export function Summary({ a }: { a: SpadeAnswer }) {
  const s = a.selection;
  if (!a.candidates.length) return <p class="remark">No rule understands an instruction of this prompt. What is below needs a model.</p>;
  if (!s && a.candidates.some((c) => c.fate === 'aside')) return <p class="remark" role="status">The prompt no longer asks for what these candidates check. Label good and bad outputs to select from them.</p>;
  if (!s) return <p class="remark" role="status">Every candidate is rejected, so nothing is selected.</p>;
  if (!s.found) {
    return <p class="remark bad" role="status">No selection is within the thresholds: candidates that fail few enough good outputs catch at most {count(s.best)} of {plural(s.of, 'bad output')}. Lower the first threshold, raise the second, or look at the labels again.</p>;
  }
  const left = a.examples.filter((e) => !e.label).length;
  return (
    <div class="remark" role="status">
      <strong>{plural(s.chosen.length, 'assertion')} of {plural(a.candidates.length, 'candidate')} selected.</strong>{' '}
      {s.method === 'none'
        ? <>Outputs are labelled {s.good ? 'good only' : s.of ? 'bad only' : 'neither good nor bad'}, so this is one candidate of each group that nothing else implies. Label good and bad outputs to select the fewest.</>
        : <>{count(s.caught)} of {plural(s.of, 'bad output')} caught, {count(s.failed_good)} of {plural(s.good, 'good output')} failed. {s.proven ? 'It is proven that no smaller selection does as well.' : 'It is not proven to be the best.'}{left > 0 && <> {plural(left, 'output')} without a label.</>}</>}
      {a.more && ' The run has more outputs; the first ones are used.'}
      {s.uncaught.length > 0 && <> No candidate catches <Ids list={s.uncaught} />.</>}
    </div>
  );
}

// Ids link to outputs.
function Ids({ list }: { list: string[] }) {
  const most = 12;
  return <>{list.slice(0, most).map((id) => <a key={id} class="chip" href={link({ o: id, show: '' })}>{plain(shorten(id, 40))}</a>)}{list.length > most && <span class="muted">and {count(list.length - most)} more</span>}</>;
}

// Sentences shows the newest version. A sentence links to its candidates.
export function Sentences({ a }: { a: SpadeAnswer }) {
  const { query } = usePlace();
  const text = a.history.at(-1)?.text ?? '', open = query.get('s');
  const parts: ComponentChildren[] = [];
  let at = 0;
  a.sentences.forEach((s, i) => {
    if (s.start < at || s.end > text.length || !s.instruction) return;
    parts.push(...visible(text.slice(at, s.start)), <Marked key={i} s={s} i={i} current={open === String(i)} text={text.slice(s.start, s.end)} />);
    at = s.end;
  });
  parts.push(...visible(text.slice(at)));
  const asked = a.sentences.filter((s) => s.instruction), covered = asked.filter((s) => s.assertions.length);
  return (
    <>
      {a.unread && <p class="remark">{sentence(a.unread)}</p>}
      <p>{plural(asked.length, 'instruction')}: {covered.length} checked by the selection, {asked.length - covered.length} not. The number before a sentence counts the selected assertions that check it.</p>
      <div class="outtext prompt" tabIndex={0} role="region" aria-label="Newest version with its instructions"><bdi class="text">{parts}</bdi></div>
    </>
  );
}

function Marked({ s, i, current, text }: { s: SpadeSentence; i: number; current: boolean; text: string }) {
  const n = s.assertions.length;
  return (
    <a class={'instruction ' + (n ? 'covered' : 'open') + (current ? ' current' : '')} href={link({ s: current ? '' : String(i) })} aria-current={current ? 'true' : undefined}>
      <span aria-hidden="true" class="sign">{n ? '✓' + n : '○'}</span><span class="hidden">{n ? plural(n, 'assertion') : 'No assertion'}: </span>{visible(text)}
    </a>
  );
}

const fates: Record<SpadeCandidate['fate'], [string, string]> = {
  selected: ['✓', 'Selected'], rejected: ['✕', 'Rejected'], unfair: ['–', 'Fails too many good outputs'], implied: ['–', 'Implied by a selected one'],
  spare: ['–', 'Catches nothing that the selected ones miss'], crowded: ['–', 'Together with the selected ones, fails too many good outputs'], none: ['–', 'Not selected'],
  aside: ['–', 'Left out: no labels show that it still holds'],
};

export function Candidates({ a, reject, keep }: { a: SpadeAnswer; reject: string[]; keep: string[] }) {
  const { query } = usePlace();
  const s = a.sentences[Number(query.get('s') ?? -1)];
  const list = s ? a.candidates.filter((c) => s.candidates.includes(c.name)) : a.candidates;
  const choose = (name: string, to: 'keep' | 'reject', on: boolean) => {
    const without = { keep: keep.filter((n) => n !== name), reject: reject.filter((n) => n !== name) };
    if (on) without[to].push(name);
    change({ keep: without.keep.join(','), reject: without.reject.join(',') });
  };
  return (
    <>
      {s?.condition && <p class="muted">It holds only if <code>{plain(shorten(s.condition, 160))}</code>.</p>}
      {s && <p>Of “<bdi>{plain(shorten(s.text, 160))}</bdi>”. <button type="button" class="link" onClick={() => change({ s: '' })}>Show all candidates</button></p>}
      {!list.length && <p class="muted">{s ? sentence(a.unchecked.find((u) => u.text === s.text)?.reason ?? 'no rule makes a check of it') + ' A model may; see below.' : 'There are no candidates.'}</p>}
      <ul class="plainlist candidates">{list.map((c) => (
        <li key={c.name}>
          <h3>{plain(c.name)} <span class={'fate ' + c.fate}><span aria-hidden="true">{fates[c.fate][0]} </span>{fates[c.fate][1]}</span></h3>
          <p>{plain(c.description)} <span class="muted">{plain(c.category)}, since version {c.version}{c.removed ? <>, no longer asked since version {c.removed}</> : ''}</span></p>
          {c.implied_by.length > 0 && <p class="muted">Implied by {c.implied_by.map(plain).join(', ')}.</p>}
          {a.examples.length > 0 && <p>Catches {c.caught.length ? <Ids list={c.caught} /> : 'no bad output'}{c.false.length > 0 && <>; fails good outputs <Ids list={c.false} /></>}{c.failed.length > 0 && <>; fails outputs without a label <Ids list={c.failed} /></>}{c.undecided.length > 0 && <>; has an error on <Ids list={c.undecided} /></>}.</p>}
          <p class="filterrow">
            <button type="button" aria-pressed={keep.includes(c.name)} onClick={() => choose(c.name, 'keep', !keep.includes(c.name))}>Accept<span class="hidden"> {plain(c.name)}</span></button>
            <button type="button" aria-pressed={reject.includes(c.name)} onClick={() => choose(c.name, 'reject', !reject.includes(c.name))}>Reject<span class="hidden"> {plain(c.name)}</span></button>
          </p>
          <details><summary>Assertion</summary><pre tabIndex={0}>{plain(JSON.stringify(c.assertion, null, 2)).replaceAll('\\u000a', '\n')}</pre></details>
        </li>
      ))}</ul>
    </>
  );
}

const step = 50;
const filters: Record<string, [string, (e: SpadeOutput) => boolean]> = {
  '': ['All', () => true], bad: ['Bad', (e) => e.label === 'fail'], uncaught: ['Bad and not caught', (e) => e.label === 'fail' && !e.caught_by.length],
  failed: ['Good but failed', (e) => e.label === 'pass' && e.caught_by.length > 0], left: ['Without a label', (e) => !e.label],
};

// caseOf returns the address of an output in its run. Ids are those of cases, with @2 for
// the second column, .3 for the third repeat, and ~row 7 where several rows have the same
// id.
function caseOf(run: string, id: string): string {
  const [, name, column, repeat] = /^(.*?)(?:@(\d+))?(?:\.(\d+))?(?:~row \d+)?$/s.exec(id)!;
  return address('/runs/' + encodeURIComponent(run), { case: name!, p: column ? String(Number(column) - 1) : '', r: repeat ? String(Number(repeat) - 1) : '', status: 'all' });
}

// Outputs lets a person label the outputs on which candidates are tried. stores means that
// labels go to the server; otherwise they stay on the page.
export function Outputs({ a, run, stores, say }: { a: SpadeAnswer; run: string; stores: boolean; say: (id: string, label: Said) => void }) {
  const { query } = usePlace();
  const only = query.get('o'), show = filters[query.get('show') ?? ''] ? query.get('show') ?? '' : '';
  const [shown, more] = useState(step), [note, setNote] = useState('');
  const box = useRef<HTMLElement>(null);
  useEffect(() => { if (only) { box.current?.scrollIntoView({ block: 'start' }); box.current?.querySelector('h2')?.focus({ preventScroll: true }); } }, [only]);
  if (!a.examples.length) return <section aria-labelledby="outputs"><h2 id="outputs">Outputs</h2><p class="muted">There are no outputs to try candidates on.</p></section>;
  const list = a.examples.filter((e) => (only ? e.id === only : filters[show]![1](e)));
  const set = async (e: SpadeOutput, label: Said) => {
    say(e.id, label);
    setNote('');
    if (!stores || e.index === undefined) return;
    try {
      await ask('POST', '/v1/labels', { run, index: e.index, assertion: '', label });
    } catch (x) {
      setNote('The label of ' + e.id + ' is not stored: ' + sentence(x instanceof Failure ? x.message : String(x)) + ' It stays on this page until it is loaded again.');
    }
  };
  return (
    <section aria-labelledby="outputs" ref={box}><h2 id="outputs" tabIndex={-1}>Outputs</h2>
      <p class="muted">{stores ? 'Labels are stored as yours for the run.' : 'Labels stay on this page: ' + (run ? 'your key may not write labels.' : 'pasted outputs are not stored.')}</p>
      <div class="filterrow">
        {only ? <button type="button" onClick={() => change({ o: '' })}>Show all outputs</button>
          : <Field label="Show"><select value={show} onChange={(e) => change({ show: e.currentTarget.value })}>{Object.entries(filters).map(([key, [name, has]]) => <option key={key} value={key}>{name} ({a.examples.filter(has).length})</option>)}</select></Field>}
        <span role="status">{plain(note)}</span>
      </div>
      {!list.length && <Empty>No output is in this list. <button type="button" class="link" onClick={() => change({ o: '', show: '' })}>Show all</button></Empty>}
      <ul class="plainlist outputs">{list.slice(0, shown).map((e) => (
        <li key={e.id}>
          <h3>{plain(shorten(e.id, 80))} <span class="fate">{e.label === 'pass' ? '✓ Good' : e.label === 'fail' ? '✕ Bad' : '○ No label'}{e.caught_by.length > 0 && ', fails ' + e.caught_by.map(plain).join(', ')}</span>{run && <> <a class="fate" href={caseOf(run, e.id)}>What was asked<span class="hidden"> of {plain(shorten(e.id, 80))}</span></a></>}</h3>
          <div class="outtext small" tabIndex={0} role="region" aria-label={'Output ' + plain(shorten(e.id, 80))}><Text of={e.output} />{e.cut && <span class="muted"> (cut)</span>}</div>
          <p class="filterrow">{([['pass', 'Good'], ['fail', 'Bad']] as const).map(([label, word]) => (
            <button key={label} type="button" aria-pressed={e.label === label} onClick={() => set(e, e.label === label ? 'unsure' : label)}>{word}<span class="hidden"> is the label of {plain(shorten(e.id, 80))}</span></button>
          ))}</p>
        </li>
      ))}</ul>
      {list.length > shown && <p><button type="button" onClick={() => more(shown + step)}>Show {count(Math.min(step, list.length - shown))} more of {count(list.length)}</button></p>}
    </section>
  );
}

// Unchecked lists the instructions that rules do not understand, and how to ask a model
// about them.
export function Unchecked({ a }: { a: SpadeAnswer }) {
  const by = new Map<string, SpadeAnswer['unchecked']>();
  for (const u of a.unchecked) by.set(u.category, [...(by.get(u.category) ?? []), u]);
  const lines = (list: unknown[]) => list.map((v) => JSON.stringify(v) + '\n').join('');
  const outputs = a.examples.filter((e) => !e.cut).map((e) => ({ id: e.id, output: e.output, ...(e.label ? { label: e.label === 'pass' ? 'good' : 'bad' } : {}) }));
  return (
    <section aria-labelledby="model"><h2 id="model">What a model would add</h2>
      {!a.unchecked.length ? <p class="muted">Rules made a check of every instruction.</p> : <>
        <p>{plural(a.unchecked.length, 'instruction')} that no rule understands:</p>
        {[...by].map(([category, list]) => (
          <div key={category}><h3>{plain(category || 'Other')}</h3><ul class="covers">{list.map((u) => <li key={u.text}><bdi>{plain(shorten(u.text, 300))}</bdi> <span class="muted">{sentence(plain(u.reason))}</span></li>)}</ul></div>
        ))}
        <p>Download the two files, and run:</p>
        <pre class="command" tabIndex={0}>proviso spade run versions.jsonl{outputs.length > 0 && ' --examples outputs.jsonl'} --model openai:chat:gpt-4.1 --judge openai:chat:gpt-4.1</pre>
        <p class="filterrow"><SaveFile name="versions.jsonl" text={lines(a.history.map((v) => ({ name: v.name, template: v.text })))}>Download versions</SaveFile>{outputs.length > 0 && <SaveFile name="outputs.jsonl" text={lines(outputs)}>Download outputs</SaveFile>}</p>
      </>}
    </section>
  );
}

const signs = { added: '+', removed: '−', moved: '~' } as const;

// History shows how the prompt changed: by category, and as a difference between two
// versions.
export function History({ a }: { a: SpadeAnswer }) {
  const { query } = usePlace();
  const newest = a.history.length - 1;
  const at = (param: string, usual: number) => { const i = a.history.findIndex((v) => String(v.version) === query.get(param)); return i < 0 ? usual : i; };
  const to = at('to', newest), from = at('from', Math.max(0, to - 1));
  const select = (label: string, param: string, value: number) => (
    <Field label={label}><select value={String(a.history[value]!.version)} onChange={(e) => change({ [param]: e.currentTarget.value })}>{a.history.map((v) => <option key={v.version} value={String(v.version)}>Version {v.version}{v.name && ', ' + plain(shorten(v.name, 40))}</option>)}</select></Field>
  );
  return (
    <section aria-labelledby="history"><h2 id="history">How the prompt changed</h2>
      {newest > 0 && <><div class="filterrow choice">{select('From', 'from', from)}{select('To', 'to', to)}</div><Difference from={a.history[from]!.text} to={a.history[to]!.text} /></>}
      {[...a.history].reverse().slice(0, 50).map((v) => (
        <details key={v.version} open={v.version === newest + 1}><summary>Version {v.version}{v.name && ', ' + plain(shorten(v.name, 80))}: {plural(v.changes.length, 'change')}</summary>
          <ul class="plainlist deltas">{[...v.changes].sort((x, y) => x.category.localeCompare(y.category)).slice(0, 200).map((d, i) => (
            <li key={i}><span class="chip">{plain(d.category || 'No longer there')}</span> <span class="hidden">{d.change}: </span><span aria-hidden="true">{signs[d.change]} </span><bdi class={d.change === 'removed' ? 'muted' : undefined}>{plain(shorten(d.text, 400))}</bdi></li>
          ))}</ul>
        </details>
      ))}
    </section>
  );
}
