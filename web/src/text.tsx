// Texts of models, suites and runs. They are inserted as text, never as markup. Invisible
// characters, and those that change the direction of text, are shown as escapes.
import type { ComponentChildren } from 'preact';
import type { Evidence } from './api';

const unseen = /(?:[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff])+/g;

const escaped = (run: string): string => run.replace(/[^]/g, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'));

// plain returns a text for attributes and single lines.
export const plain = (text: string): string => text.replace(unseen, escaped);

// shorten shortens a text for display, at a character boundary.
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  const end = /[\ud800-\udbff]/.test(text[length - 1]!) ? length - 1 : length;
  return text.slice(0, end) + '…';
}

// Text shows a text with its line breaks, isolated from the direction of the surrounding
// text.
export function Text({ of }: { of: string }) {
  return <bdi class="text">{visible(of)}</bdi>;
}

export function visible(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const m of text.matchAll(unseen)) {
    if (m.index > at) parts.push(text.slice(at, m.index));
    parts.push(<span class="escape">{escaped(m[0])}</span>);
    at = m.index + m[0].length;
  }
  if (at < text.length) parts.push(text.slice(at));
  return parts;
}

// Marked shows a text and marks the quotes in it. Overlapping quotes become one mark. The
// mark that begins at, or spans, the position strong is highlighted.
export function Marked({ text, evidence, label, strong = -1 }: { text: string; evidence: Evidence[]; label: string; strong?: number }) {
  const spans = evidence
    .filter((e) => e.start !== undefined && e.end !== undefined && e.end > e.start && e.end <= text.length)
    .map((e) => [e.start!, e.end!] as [number, number])
    .sort((a, b) => a[0] - b[0]);
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (let i = 0; i < spans.length; i++) {
    let [start, end] = spans[i]!;
    while (i + 1 < spans.length && spans[i + 1]![0] <= end) end = Math.max(end, spans[++i]![1]);
    if (start > at) parts.push(...visible(text.slice(at, start)));
    parts.push(<mark title={label} class={strong >= start && strong < end ? 'strong' : ''}>{visible(text.slice(start, end))}</mark>);
    at = end;
  }
  if (at < text.length) parts.push(...visible(text.slice(at)));
  return <bdi class="text">{parts}</bdi>;
}
