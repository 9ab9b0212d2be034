// Column names. Prompts with the same beginning are shown from where they differ, because
// column headers are narrow.
import type { Column } from '../api';
import { plain, shorten } from '../text';

function common(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}

// promptNames returns a name of at most length characters for each prompt.
export function promptNames(prompts: string[], length = 48): string[] {
  const flat = prompts.map((p) => plain(p.replace(/\s+/g, ' ').trim()));
  return flat.map((p) => {
    const alike = flat.filter((o) => o !== p && o.slice(0, length) === p.slice(0, length));
    if (alike.length === 0) return shorten(p, length);
    const n = Math.max(...alike.map((o) => common(o, p)));
    const blank = p.lastIndexOf(' ', n);
    const from = n - blank < 12 ? blank + 1 : n;
    return shorten((from > 0 ? '… ' : '') + p.slice(from), length);
  });
}

export interface ColumnName { title: string; under: string; whole: string }

// columnNames names each column, the distinguishing part first: the prompt, or the provider
// if all prompts are the same.
export function columnNames(columns: Column[]): ColumnName[] {
  const names = promptNames(columns.map((c) => c.prompt));
  const onePrompt = new Set(columns.map((c) => c.prompt)).size <= 1;
  return columns.map((c, i) => {
    const provider = plain(c.provider), prompt = names[i]!;
    const whole = plain(c.provider + ': ' + shorten(c.prompt, 300));
    return onePrompt && provider ? { title: provider, under: prompt, whole } : { title: prompt || 'Prompt ' + (i + 1), under: provider, whole };
  });
}
