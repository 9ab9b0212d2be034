// What a person pasted: versions of a prompt and outputs. It stays in memory while the app
// is open, so that other pages can be visited in between.
import type { Said, SpadeExample } from '../api';

export interface Draft { versions: string; outputs: string; names: string[]; said: Record<string, Said> }

export const draft: Draft = { versions: '', outputs: '', names: [], said: {} };

// between is the line that separates versions, and outputs that are plain text.
const between = /^---[ \t]*\r?$\n?/m;

export const joined = (texts: string[]): string => texts.map((t) => t.replace(/\n*$/, '\n')).join('---\n');

// parts cuts a text at lines of three dashes.
export const parts = (text: string): string[] => text.split(between).map((t) => t.replace(/\r\n?/g, '\n').replace(/\n+$/, '')).filter((t) => t.trim());

const labels: Record<string, Said> = { pass: 'pass', good: 'pass', true: 'pass', 1: 'pass', fail: 'fail', bad: 'fail', false: 'fail', 0: 'fail', unsure: 'unsure' };

// oneLine is an id as one line, without what UTF-8 cannot hold.
const oneLine = (id: string): string => new TextDecoder().decode(new TextEncoder().encode(id)).replace(/[\r\n\0]/g, ' ');

// examples reads outputs: JSON Lines with output, and perhaps id and label, or texts
// between lines of three dashes. A mistake is a message with its line.
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
