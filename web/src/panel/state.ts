// The state of the panel: results in the order shown, what is open, and the entered texts.
// It survives every change of the surrounding page.
import type { Evaluation, Label, Result, Status } from '../../panel/panel';

export interface Row { key: string; id: string; index: number; status: Status; instruction?: string; result?: Result; event: number }

// Draft is a person's own verdict on an assertion, from the first click until it is
// deleted.
export interface Draft {
  label: Label; note: string; problem?: string;
  state: 'closed' | 'typing' | 'sending' | 'failed' | 'saved' | 'undoing';
  saved?: string; // the label's id on the server
  nonce: string;  // makes storing a label idempotent
}

export type Phase = 'idle' | 'waiting' | 'going' | 'ended' | 'stopped';

export interface Totals { total?: number; passed_threshold?: boolean; threshold?: number; status?: Status; score?: number | null }

const statuses: Status[] = ['fail', 'error', 'running', 'pass', 'skip'];
const order = (a: Row, b: Row): number => statuses.indexOf(a.status) - statuses.indexOf(b.status) || a.index - b.index;

const openBudget = 400; // approximate elements of open rows

export class State {
  phase: Phase = 'idle';
  lost = false;      // the connection is lost and being retried
  problem = '';      // why the connection stopped
  rows: Row[] = [];  // in the order shown
  totals: Totals = {};
  drafts = new Map<string, Draft>();
  open: string[] = [];
  focus = '';        // selector of the element to focus once it exists
  passes = false;    // passing rows are shown
  page = [0, 0];     // of the rows that need attention, and of the others
  unsorted = false;  // results arrived while a person was reading

  #keys = new Map<string, Row>();
  #places = new Map<number, Row>();

  // changed redraws the panel; busy reports whether a person is reading the list.
  #busy: () => boolean;

  constructor(readonly changed: () => void, busy: () => boolean) { this.#busy = busy; }

  // reset drops the results, but no entered text that is not saved yet.
  reset(phase: Phase): void {
    for (const [key, d] of this.drafts) if (d.state === 'saved') this.drafts.delete(key);
    this.rows = [];
    this.#keys.clear();
    this.#places.clear();
    this.change({ phase, lost: false, problem: '', totals: {}, unsorted: false, page: [0, 0] });
  }

  change(to: Partial<State>): void {
    Object.assign(this, to);
    this.changed();
  }

  // feed receives results from the host. Existing rows keep their places.
  feed(of: Result[] | Evaluation | null | undefined): void {
    const results = (Array.isArray(of) ? of : of?.results) ?? [];
    if (!Array.isArray(results)) throw new TypeError('results: expected an array, or an object with results');
    const before = new Map(this.rows.map((r, i) => [r.key, i])), first = before.size === 0;
    this.#keys.clear();
    this.#places.clear();
    this.rows = [];
    results.forEach((result, i) => {
      if (!result || typeof result !== 'object') return;
      const row = this.#add(text(result.id) || `assertion ${i + 1}`, i);
      this.#take(row, result);
    });
    this.totals = of && !Array.isArray(of) ? of : {};
    this.phase = of ? (this.rows.some((r) => r.status === 'running') ? 'going' : 'ended') : 'idle';
    this.rows.sort((a, b) => (before.get(a.key) ?? 1e9) - (before.get(b.key) ?? 1e9) || a.index - b.index);
    if (first || !results.length) this.sort();
    else this.#settle();
    this.changed();
  }

  // begin receives the names of the assertions to be judged.
  begin(assertions: { index: number; id: string; instruction?: string }[]): void {
    for (const a of assertions) {
      const row = this.#places.get(a.index) ?? this.#add(text(a.id), a.index);
      row.instruction = a.instruction;
    }
    this.phase = 'going';
    this.changed();
  }

  // verdict receives a result from the stream. The later event wins, whichever arrives
  // first.
  verdict(result: Result & { index: number }, event: number): void {
    const row = this.#places.get(result.index) ?? this.#add(text(result.id), result.index);
    if (event < row.event) return;
    row.event = event;
    const was = row.status;
    this.#take(row, result);
    if (was === 'running') { // it goes after the rows decided before
      this.rows.splice(this.rows.indexOf(row), 1);
      this.rows.push(row);
    }
    this.changed();
  }

  missing(): boolean { return this.rows.some((r) => r.status === 'running'); }

  end(totals: Totals): void {
    this.totals = totals;
    this.phase = 'ended';
    for (const row of this.rows) if (row.status === 'running') this.#take(row, { id: row.id, pass: false, status: 'error', reasoning: 'No verdict arrived.' });
    this.#settle();
    this.changed();
  }

  stop(problem: string): void { this.change({ phase: 'stopped', problem, lost: false }); }

  // sort puts failures first. It moves nothing while results arrive or a person reads.
  sort(): void {
    this.rows.sort(order);
    this.unsorted = false;
    this.changed();
  }

  toggle(row: Row): void {
    if (this.open.includes(row.key)) this.open = this.open.filter((k) => k !== row.key);
    else {
      this.open = [...this.open, row.key];
      let left = openBudget;
      // The rows opened first close when the panel would get too large. Forms stay open.
      this.open = this.open.reverse().filter((k) => this.#keys.has(k) && (((left -= weight(this.#keys.get(k)!)) > 0) || k === row.key || this.drafts.has(k))).reverse();
    }
    this.changed();
  }

  count(status: Status): number { return this.rows.reduce((n, r) => n + Number(r.status === status), 0); }

  #settle(): void {
    const sorted = this.rows.every((r, i) => !i || order(this.rows[i - 1]!, r) <= 0);
    if (this.phase !== 'ended' || sorted) this.unsorted = false;
    else if (this.#busy()) this.unsorted = true;
    else this.sort();
  }

  #add(id: string, index: number): Row {
    let key = id;
    for (let n = 2; this.#keys.has(key); n++) key = id + '\0' + n; // duplicate names
    const row: Row = { key, id, index, status: 'running', event: -1 };
    this.#keys.set(key, row);
    this.#places.set(index, row);
    this.rows.push(row);
    return row;
  }

  #take(row: Row, result: Result): void {
    row.result = result;
    row.status = statuses.includes(result.status!) ? result.status! : result.pass === true ? 'pass' : 'fail';
    row.instruction = text(result.instruction) || row.instruction;
  }
}

export const text = (of: unknown): string => (typeof of === 'string' ? of : '');

export const shownCriteria = 12, shownQuotes = 8;

// weight returns the approximate number of elements of an open row.
const weight = ({ result: r }: Row): number => 40 + 7 * Math.min(r?.criteria?.length ?? 0, shownCriteria) + 4 * Math.min(r?.evidence?.length ?? 0, shownQuotes);

export function newDraft(row: Row): Draft {
  return { label: row.status === 'pass' ? 'fail' : 'pass', note: '', state: 'typing', nonce: nonce() };
}

// nonce returns 128 random bits. crypto.randomUUID would require a page over TLS.
export const nonce = (): string => btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(16))));
