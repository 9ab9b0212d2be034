// The places of a judge's quotes in the output. A quote is found only if the output
// contains exactly its characters: nothing that is only similar is ever marked.
import type { Result } from '../../panel/panel';

export interface Quote { text: string; start: number; end: number } // start is -1 if the output does not contain it

// quotesOf returns the first quotes of a result, with their offsets in UTF-16 units, and
// the number of all quotes. Given offsets are used only if the output has the quote there.
export function quotesOf(result: Result, output: string, most: number): { quotes: Quote[]; total: number } {
  const marks = list(result.marks).filter((m) => m?.quote && typeof m.quote === 'string');
  const texts = [...new Set([...list(result.evidence).filter((q) => q && typeof q === 'string'), ...marks.map((m) => m.quote)])];
  const quotes = texts.slice(0, most).flatMap((text) => {
    const at = marks.filter((m) => m.quote === text && output.indexOf(text, m.start) === m.start).map((m) => m.start);
    return (at.length ? at.slice(0, most) : [output.indexOf(text)]).map((start) => ({ text, start, end: start + text.length }));
  });
  return { quotes: quotes.slice(0, most), total: texts.length };
}

const list = <T>(of: T[] | undefined): T[] => (Array.isArray(of) ? of : []);
