// The data of the run in a report: compressed JSON in blocks of the page. A block of rows
// is unpacked when one of its rows is shown.
import type { Detail, Found, Matrix, Preview, Run } from './api';
import { Failure } from './load';
import { bytes } from './run/bytes';
import type { RunSource } from './source';
import { shorten } from './text';

export interface Head {
  run: Run;
  rows: number; held: number; // of the run, and in the page
  first: [number[], number[]]; // index of the first row of each block: rows that did not pass, then the others
  show?: string;              // command that shows the run
}

const keptBlocks = 8;     // unpacked blocks in memory
const foundRows = 100_000; // maximum results of a search

// unpack inflates the text of a block.
async function unpack(block: Element): Promise<string> {
  const data = bytes(JSON.parse(block.textContent!) as string);
  return new Response(new Blob([data as BlobPart]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
}

// read reads a block that is one JSON value.
export async function read<T>(id: string): Promise<T> {
  const block = document.getElementById(id);
  if (!block) throw new Error('the page has no block ' + id);
  return JSON.parse(await unpack(block)) as T;
}

export class Embedded implements RunSource {
  private blocks = [...document.querySelectorAll('script.rows')];
  private open = new Map<number, Promise<string[]>>(); // lines of blocks, the most recently used last
  private whole?: Promise<Matrix>;

  constructor(private head: Head) {}

  run(): Promise<Run> { return Promise.resolve(this.head.run); }

  matrix(): Promise<Matrix> { return this.whole ??= read<Matrix>('matrix'); }

  watch(): () => void { return () => {}; } // the run in a page does not change

  private lines(block: number): Promise<string[]> {
    const found = this.open.get(block) ?? unpack(this.blocks[block]!).then((text) => text.split('\n'));
    this.open.delete(block);
    this.open.set(block, found);
    for (const oldest of this.open.keys()) if (this.open.size > keptBlocks) this.open.delete(oldest);
    return found;
  }

  // row finds the row with an index in one of the two groups.
  private async row(index: number): Promise<Detail | undefined> {
    let before = 0;
    for (const first of this.head.first) {
      let low = 0, high = first.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (first[middle]! <= index) low = middle + 1; else high = middle;
      }
      if (low > 0) {
        const start = '{"index":' + index + ',';
        const lines = await this.lines(before + low - 1), found = lines.find((one) => one.startsWith(start));
        if (found) return row(found, lines[0]!);
      }
      before += first.length;
    }
    return undefined;
  }

  async detail(index: number): Promise<Detail> {
    const found = await this.row(index);
    if (found) return found;
    const more = this.head.show ? ' ' + this.head.show + ' has all of them.' : '';
    throw new Failure({ type: 'about:blank', title: 'The page does not hold this result', status: 404, detail: 'The page holds ' + this.head.held + ' of ' + this.head.rows + ' results; those that did not pass come first.' + more });
  }

  previews(index: number[]): Promise<Preview[]> {
    return Promise.all(index.map(async (one) => {
      const found = await this.row(one);
      return found ? preview(found) : { index: one, input: '', output: '(not in this page)', why: '', assertion: '', score: '–' };
    }));
  }

  // search searches the texts of all rows, block by block, so that it does not block
  // typing.
  async search(text: string, signal: AbortSignal): Promise<Found> {
    const wanted = text.toLowerCase(), rows: number[] = [];
    let searched = 0;
    for (const block of this.blocks) {
      const lines = (await unpack(block)).split('\n'), within = inShared(lines[0]!, wanted);
      for (const line of lines.slice(1, -1)) {
        searched++;
        const at = rows.length < foundRows ? indexIfFound(line, within, wanted) : -1;
        if (at >= 0) rows.push(at);
      }
      signal.throwIfAborted();
    }
    return { rows: base64(Uint32Array.from(rows)), searched, more: rows.length === foundRows };
  }
}

type Packed = Omit<Detail, 'assertions'> & { assertions: Detail['assertions'] | number };

// row parses a line. Verdicts that several rows share are in the first line of the block.
function row(line: string, shared: string): Detail {
  const d = JSON.parse(line) as Packed;
  return { ...d, assertions: typeof d.assertions === 'number' ? (JSON.parse(shared) as Detail['assertions'][])[d.assertions]! : d.assertions };
}

const contains = (text: string | undefined, wanted: string): boolean => text !== undefined && text.toLowerCase().includes(wanted);

// inShared returns which of the shared verdicts contain a text.
const inShared = (shared: string, wanted: string): boolean[] => (JSON.parse(shared) as Detail['assertions'][]).map((list) => inVerdicts(list, wanted));

const inVerdicts = (list: Detail['assertions'], wanted: string): boolean =>
  list.some((a) => [a.name, a.reason, a.asks, ...(a.criteria ?? []).flatMap((c) => [c.text, c.why])].some((text) => contains(text, wanted)));

// indexIfFound returns the index of a row whose visible texts contain a text, else -1. It
// rules out most rows without parsing their JSON.
function indexIfFound(line: string, within: boolean[], wanted: string): number {
  const quick = within.includes(true) || contains(line, JSON.stringify(wanted).slice(1, -1));
  if (!quick) return -1;
  const d = JSON.parse(line) as Packed;
  const verdicts = typeof d.assertions === 'number' ? within[d.assertions]! : inVerdicts(d.assertions, wanted);
  return verdicts || [d.case, d.title, d.prompt, d.output, d.why, ...d.vars.flat()].some((text) => contains(text, wanted)) ? d.index : -1;
}

function base64(words: Uint32Array): string {
  const raw = new DataView(new ArrayBuffer(4 * words.length));
  words.forEach((word, i) => raw.setUint32(4 * i, word, true));
  let text = '';
  for (let i = 0; i < raw.byteLength; i++) text += String.fromCharCode(raw.getUint8(i));
  return btoa(text);
}

const line = (text: string, length = 200): string => shorten(text.slice(0, 8 * length).replace(/\s+/g, ' ').trim(), length);

// preview returns the texts of a row's cell, as Detail.Preview of package report does.
function preview(d: Detail): Preview {
  const broken = d.assertions.find((a) => a.status === d.status && (a.status === 'fail' || a.status === 'error'))
    ?? (d.status === 'fail' ? d.assertions.find((a) => a.status === 'error') : undefined);
  const marked = broken?.evidence?.find((e) => e.start !== undefined)?.start ?? 0;
  let from = 0;
  if (marked >= 100) {
    from = marked - 40;
    const blank = d.output!.slice(from, marked).indexOf(' ');
    from = blank >= 0 ? from + blank + 1 : marked;
  }
  return {
    index: d.index, input: line(d.vars.map(([name, value]) => name + '=' + line(value, 60)).join('  ')),
    output: line((d.output ?? '').slice(from)), why: line(broken ? broken.reason : d.why ?? ''), assertion: broken?.name ?? '', score: d.score,
  };
}
