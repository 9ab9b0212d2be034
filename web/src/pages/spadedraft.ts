// Texts that a person pasted: versions of a prompt, and outputs with their labels. They are
// kept for the browser tab, so that other pages can be visited in between, and survive a
// reload.
import type { Said, SpadeExample } from '../api';
import { keep, most, typed } from '../parts/typed';

export interface Draft { versions: string; outputs: string; names: string[]; said: Record<string, Said> }

const place = 'spade', none = (): Draft => ({ versions: '', outputs: '', names: [], said: {} });

export const draft: Draft = { ...none(), ...typed<Partial<Draft>>(place) };

let timer = 0;

// save stores the draft now.
function save(): void {
  clearTimeout(timer);
  timer = 0;
  keep(place, draft.versions || draft.outputs ? draft : undefined);
}

// keepDraft stores the draft after a pause in typing.
export function keepDraft(): void {
  if (!timer) addEventListener('pagehide', save, { once: true });
  clearTimeout(timer);
  timer = setTimeout(() => { removeEventListener('pagehide', save); save(); }, 400) as unknown as number;
}

addEventListener('proviso-logout', () => { clearTimeout(timer); removeEventListener('pagehide', save); timer = 0; Object.assign(draft, none()); });

// kept reports whether texts of this length survive a reload.
export const kept = (versions: string, outputs: string): boolean => versions.length + outputs.length < most * 0.9;

// between matches the line that separates versions, and outputs in plain text.
const between = /^---[ \t]*\r?$\n?/m;

export const joined = (texts: string[]): string => texts.map((t) => t.replace(/\n*$/, '\n')).join('---\n');

// parts splits a text at lines of three dashes.
export const parts = (text: string): string[] => text.split(between).map((t) => t.replace(/\r\n?/g, '\n').replace(/\n+$/, '')).filter((t) => t.trim());

const labels: Record<string, Said> = { pass: 'pass', good: 'pass', true: 'pass', 1: 'pass', fail: 'fail', bad: 'fail', false: 'fail', 0: 'fail', unsure: 'unsure' };

// oneLine formats an id as one line, without characters that UTF-8 cannot encode.
const oneLine = (id: string): string => new TextDecoder().decode(new TextEncoder().encode(id)).replace(/[\r\n\0]/g, ' ');

// examples parses outputs: JSON Lines with output and optionally id and label, or texts
// separated by lines of three dashes. For a mistake it returns a message with the line.
export function examples(text: string): SpadeExample[] | string {
  if (!text.trim()) return [];
  if (!text.trimStart().startsWith('{')) return parts(text).map((output, i) => ({ id: 'o' + (i + 1), output }));
  const list: SpadeExample[] = [], seen = new Set<string>();
  for (const [i, line] of text.split('\n').entries()) {
    if (!line.trim()) continue;
    const where = 'line ' + (i + 1) + ' of the outputs';
    let o: Record<string, unknown>;
    try { o = JSON.parse(line) as Record<string, unknown>; } catch { return where + ' is not JSON; each line has an object such as {"output": "…", "label": "good"}'; }
    if (o === null || typeof o !== 'object' || Array.isArray(o) || !('output' in o)) return where + ' has no member "output"';
    const id = o.id === undefined || o.id === null || o.id === '' ? 'o' + (list.length + 1) : oneLine(String(o.id));
    if (seen.has(id)) return where + ' has the id ' + id + ', which is there already';
    seen.add(id);
    const example: SpadeExample = { id, output: typeof o.output === 'string' ? o.output : JSON.stringify(o.output) };
    if (o.label !== undefined && o.label !== null && o.label !== '') {
      const label = labels[String(o.label).toLowerCase()];
      if (!label) return where + ' has the label ' + String(o.label) + '; good or bad is expected';
      example.label = label;
    }
    if (o.vars && typeof o.vars === 'object' && !Array.isArray(o.vars)) example.vars = o.vars as Record<string, unknown>;
    list.push(example);
  }
  return list;
}
