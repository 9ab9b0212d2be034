// The output of a row, with marked evidence. Long outputs are shown in parts.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Evidence } from '../api';
import { count } from '../number';
import { saveText } from '../parts/actions';
import { Marked } from '../text';

const part = 20_000, most = 400_000; // UTF-16 units: shown at first, and in total

// edge moves a position inside a surrogate pair to the pair's beginning.
const edge = (text: string, at: number): number => (at > 0 && at < text.length && /[\udc00-\udfff]/.test(text[at]!) ? at - 1 : at);

// Strong is the evidence that was clicked. turn distinguishes clicks on the same evidence.
export interface Strong { start: number; turn: number }

export function Output({ text, evidence, strong, href, name, cut }: { text: string | undefined; evidence: Evidence[]; strong: Strong; href?: string; name: string; cut: boolean }) {
  const [range, set] = useState<[number, number]>([0, part]);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (strong.start >= 0 && (strong.start < range[0] || strong.start >= range[1])) {
      const from = Math.max(0, strong.start - part / 4);
      set([from, from + part]);
    }
  }, [strong]);
  useLayoutEffect(() => {
    if (strong.start >= 0) box.current?.querySelector('mark.strong')?.scrollIntoView({ block: 'center' });
  }, [strong, range]);
  if (text === undefined) return <p class="muted">There is no output.</p>;
  if (text === '') return <p class="muted">The output is empty.</p>;
  const from = edge(text, range[0]), to = edge(text, Math.min(text.length, range[1]));
  const seen = evidence.filter((e) => e.start !== undefined && e.end !== undefined && e.end > from && e.start < to)
    .map((e) => ({ quote: e.quote, start: Math.max(e.start!, from) - from, end: Math.min(e.end!, to) - from }));
  const long = text.length > part || cut;
  return (
    <div class="output" ref={box} data-from={from}>
      {from > 0 && <p class="muted">{count(from)} characters before. <button type="button" class="link" onClick={() => set([0, part])}>Show from the beginning</button></p>}
      <Marked text={text.slice(from, to)} evidence={seen} label="Evidence" strong={strong.start - from} />
      {long && (
        <p class="muted">
          {to < text.length && <>{count(text.length - to)} more characters. {to - from < most && <button type="button" class="link" onClick={() => set([from, to + 4 * part])}>Show more</button>} </>}
          {cut && 'The page holds only the beginning of this output. '}
          {href ? <a href={href} download={name}>Download the output</a> : !cut && <button type="button" class="link" onClick={() => saveText(name, text)}>Download</button>}
        </p>
      )}
    </div>
  );
}
