// Parts of an output as evidence, with offsets in UTF-16 units as in JavaScript.
import type { Place } from '../api';

export const most = 100; // maximum places of a label

// offsetOf returns the offset of a document position in the text that box shows. from is
// the offset of the first shown unit. An escape such as \u0000 counts as the character it
// stands for.
function offsetOf(box: Element, node: Node, at: number, end: boolean): number {
  const range = document.createRange();
  range.selectNodeContents(box);
  try { range.setEnd(node, at); } catch { return 0; }
  let units = 0;
  const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  for (let t = walk.nextNode() as Text | null; t; t = walk.nextNode() as Text | null) {
    if (!range.intersectsNode(t)) break;
    const seen = t === range.endContainer ? range.endOffset : t.length;
    const escaped = t.parentElement?.classList.contains('escape');
    units += escaped ? (end ? Math.ceil(seen / 6) : Math.floor(seen / 6)) : seen;
    if (t === range.endContainer) break;
  }
  return units;
}

// selected returns the selected part of the output without surrounding blanks, or
// undefined. box is the element with class output.
export function selected(box: Element | null, text: string): Place | undefined {
  const selection = getSelection(), shown = box?.querySelector('bdi.text');
  if (!selection || selection.isCollapsed || !selection.rangeCount || !shown) return undefined;
  const r = selection.getRangeAt(0);
  if (!shown.contains(r.startContainer) && !shown.contains(r.endContainer)) return undefined;
  const from = Number((box as HTMLElement).dataset.from ?? 0);
  const size = offsetOf(shown, shown, shown.childNodes.length, true);
  const start = shown.contains(r.startContainer) ? offsetOf(shown, r.startContainer, r.startOffset, false) : 0;
  const end = shown.contains(r.endContainer) ? offsetOf(shown, r.endContainer, r.endOffset, true) : size;
  return trimmed(text, { start: from + start, end: from + end });
}

// trimmed removes the blanks around a part; undefined if nothing is left.
export function trimmed(text: string, p: Place): Place | undefined {
  let { start, end } = p;
  end = Math.min(end, text.length);
  while (start < end && /\s/.test(text[start]!)) start++;
  while (end > start && /\s/.test(text[end - 1]!)) end--;
  return end > start ? { start, end } : undefined;
}

// found returns the first place of a quote in the text that is not in list yet.
export function found(text: string, quote: string, list: Place[]): Place | undefined {
  const wanted = quote.trim();
  if (!wanted) return undefined;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
    if (!list.some((p) => p.start <= at && at < p.end)) return { start: at, end: at + wanted.length };
  }
  return undefined;
}

// joined adds a part to a sorted list. It merges parts that overlap or touch.
export function joined(list: Place[], p: Place): Place[] {
  const out: Place[] = [];
  for (const x of [...list, p].sort((a, b) => a.start - b.start)) {
    const last = out.at(-1);
    if (last && x.start <= last.end) last.end = Math.max(last.end, x.end);
    else out.push({ ...x });
  }
  return out;
}
