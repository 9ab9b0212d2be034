// Both outputs of a case side by side, and why assertions changed.
import { useMemo, useState } from 'preact/hooks';
import type { Change, Detail, DetailAssertion, DiffPart } from '../api';
import { runAddress } from '../http';
import { get, useLoad } from '../load';
import { Data } from '../parts/states';
import { StatusMark } from '../parts/status';
import { plain, shorten, Text, visible } from '../text';
import { address } from '../url';
import { wordDiff } from './diff';

// mostShown limits the shown part of an output; a link leads to the rest.
const mostShown = 50_000;

const load = (run: string, row: number | undefined, signal: AbortSignal): Promise<Detail | null> =>
  row === undefined ? Promise.resolve(null) : get<Detail>(runAddress(run) + '/results/' + row + '/detail', signal);

export function Pair({ x, base, head }: { x: Change; base: string; head: string }) {
  const [b, setB] = useState(0), [h, setH] = useState(0);
  const rows = [x.base_rows[b], x.head_rows[h]] as const;
  const both = useLoad((signal) => Promise.all([load(base, rows[0], signal), load(head, rows[1], signal)]), [base, head, ...rows]);
  return (
    <div class="bothsides">
      {(x.base_rows.length > 1 || x.head_rows.length > 1) && <div class="filterrow">
        <Repeat label="Base repeat" of={x.base_rows.length} value={b} set={setB} />
        <Repeat label="Head repeat" of={x.head_rows.length} value={h} set={setH} />
      </div>}
      <Data of={both} what="both results">{([was, is]) => <Both x={x} was={was} is={is} base={base} head={head} />}</Data>
    </div>
  );
}

function Repeat({ label, of, value, set }: { label: string; of: number; value: number; set: (n: number) => void }) {
  if (of < 2) return null;
  return <label class="field"><span>{label}</span><select value={value} onChange={(e) => set(Number(e.currentTarget.value))}>{Array.from({ length: of }, (_, i) => <option key={i} value={i}>{i + 1} of {of}</option>)}</select></label>;
}

function Both({ x, was, is, base, head }: { x: Change; was: Detail | null; is: Detail | null; base: string; head: string }) {
  const [before, after] = [was?.output ?? '', is?.output ?? ''];
  const diff = useMemo(() => (before && after ? wordDiff(before.slice(0, mostShown), after.slice(0, mostShown)) : undefined), [before, after]);
  const vars = (is ?? was)?.vars ?? [];
  return (
    <>
      {vars.length > 0 && <dl class="inputs">{vars.slice(0, 20).map(([name, value]) => <div key={name}><dt>{plain(name)}</dt><dd><Text of={shorten(value, 1000)} /></dd></div>)}</dl>}
      <div class="twosides">
        <Side title="Base" run={base} d={was} parts={diff?.filter((p) => p.kind !== 'actual')} />
        <Side title="Head" run={head} d={is} parts={diff?.filter((p) => p.kind !== 'expected')} />
      </div>
      {before && after && before === after && <p class="muted">Both outputs are the same.</p>}
      {before && after && !diff && <p class="muted">The outputs are too long or too different to compare word by word.</p>}
      <Reasons x={x} was={was} is={is} />
    </>
  );
}

function Side({ title, run, d, parts }: { title: string; run: string; d: Detail | null; parts?: DiffPart[] }) {
  if (!d) return <div class="oneside"><h3>{title}</h3><p class="muted">There is no result.</p></div>;
  const output = d.output ?? '';
  return (
    <div class="oneside">
      <h3>{title} <StatusMark status={d.status} /> <span class="muted num">{d.score !== '–' && plain(d.score)}</span> <a href={address('/runs/' + encodeURIComponent(run), { q: d.case, status: 'all' })}>Open in its run</a></h3>
      <div class="outtext" tabIndex={0} role="region" aria-label={'Output of ' + title.toLowerCase()}>
        {d.output === undefined ? <span class="muted">{plain(d.why ?? 'There is no output.')}</span> : parts ? <Words parts={parts} /> : <Text of={output.slice(0, mostShown)} />}
      </div>
      {(output.length > mostShown || d.cut?.includes('output')) && <p class="muted">The output is longer. <a href={runAddress(run) + '/results/' + d.index}>Whole result as JSON</a></p>}
    </div>
  );
}

// Words shows one side of a difference. Words that only this side has are highlighted.
export function Words({ parts }: { parts: DiffPart[] }) {
  return (
    <bdi class="text">
      {parts.map((p, i) => (p.kind === 'same' ? <span key={i}>{visible(p.text)}</span> : p.kind === 'expected' ? <del key={i}>{visible(p.text)}</del> : <ins key={i}>{visible(p.text)}</ins>))}
    </bdi>
  );
}

// Reasons shows the assertions that changed, or that did not pass on either side.
function Reasons({ x, was, is }: { x: Change; was: Detail | null; is: Detail | null }) {
  const of = (d: Detail | null) => new Map((d?.assertions ?? []).map((a) => [a.name, a]));
  const before = of(was), after = of(is), touched = new Set([...x.broke, ...x.fixed]);
  const names = [...new Set([...before.keys(), ...after.keys()])].filter((n) => touched.has(n) || (!touched.size && [before.get(n), after.get(n)].some((a) => a && a.status !== 'pass' && a.status !== 'skip')));
  if (!names.length) return null;
  return (
    <table class="rows reasons" role="table">
      <caption class="hidden">Assertions that changed</caption>
      <thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">Assertion</th><th role="columnheader" scope="col">Base</th><th role="columnheader" scope="col">Head</th></tr></thead>
      <tbody role="rowgroup">{names.slice(0, 50).map((n) => (
        <tr role="row" key={n}><th role="rowheader" scope="row" data-label="Assertion">{plain(shorten(n, 120))}</th><td role="cell" data-label="Base"><Why a={before.get(n)} /></td><td role="cell" data-label="Head"><Why a={after.get(n)} /></td></tr>
      ))}</tbody>
    </table>
  );
}

function Why({ a }: { a: DetailAssertion | undefined }) {
  if (!a) return <span class="muted">not there</span>;
  return <><StatusMark status={a.status} /> {a.score && <span class="muted num">{plain(a.score)}</span>}<span class="why"><Text of={shorten(a.reason, 2000)} /></span></>;
}
