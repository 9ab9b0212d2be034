// The assertions that a person edits, with the lint findings on their wording.
import type { Assertion, Criterion, Finding, Lint } from '../../panel/panel';
import { messageOf } from './connection';

// Item is an assertion with a key that does not change when others are added or removed.
export interface Item { key: number; value: Assertion; found: Finding[] }

const quiet = 300;   // milliseconds without input before the wording is checked
const echoes = 50;   // recent announcements, which a host may return late

export class Edit {
  items: Item[] = [];
  removed: { at: number; item: Item } | undefined; // restored by Undo
  page = 0;
  linting = '';      // why the wording could not be checked
  checked = false;   // the findings are about the shown wording
  #next = 0;
  #told: string[] = [];
  #timer = 0;
  #stop: AbortController | undefined;

  readonly #announce: (assertions: Assertion[]) => void;
  // lint returns undefined if nothing checks the wording.
  readonly #lint: () => Lint | undefined;

  constructor(readonly changed: () => void, announce: (assertions: Assertion[]) => void, lint: () => Lint | undefined) {
    this.#announce = announce;
    this.#lint = lint;
  }

  // take shows the host's assertions. It ignores those that the panel itself has announced,
  // so that a host that returns them late does not remove text entered since then.
  take(of: Assertion[] | null | undefined): void {
    if (of && !Array.isArray(of)) throw new TypeError('assertions: expected an array');
    const now = JSON.stringify(of ?? []);
    if (!this.#told.includes(now)) this.put(JSON.parse(now) as Assertion[]);
  }

  // put replaces the assertions, even by those that were announced.
  put(of: Assertion[]): void {
    this.#told = [JSON.stringify(of)];
    this.items = of.filter((a) => a && typeof a === 'object').map((value) => ({ key: this.#next++, value, found: [] }));
    this.removed = undefined;
    this.later(0);
    this.changed();
  }

  // value returns the assertions for the host, without empty ones.
  value(): Assertion[] { return this.#written().map((i) => JSON.parse(JSON.stringify(i.value)) as Assertion); }

  set(item: Item, to: Partial<Assertion>): void {
    Object.assign(item.value, to);
    this.#edited();
  }

  add(): number {
    const ids = new Set(this.items.map((i) => i.value.id));
    let n = this.items.length + 1;
    while (ids.has('assertion_' + n)) n++;
    const item: Item = { key: this.#next++, value: { id: 'assertion_' + n, instruction: '', criteria: [''] }, found: [] };
    this.items.push(item);
    this.changed();
    return item.key;
  }

  remove(item: Item): void {
    const at = this.items.indexOf(item);
    this.items.splice(at, 1);
    this.removed = { at, item };
    this.#edited();
  }

  undo(): void {
    if (!this.removed) return;
    this.items.splice(this.removed.at, 0, this.removed.item);
    this.removed = undefined;
    this.#edited();
  }

  // end stops pending work; the entered text stays.
  end(): void {
    clearTimeout(this.#timer);
    this.#stop?.abort();
  }

  // later checks the wording after a pause in typing.
  later(wait = quiet): void {
    this.end();
    this.checked = false;
    this.#timer = setTimeout(() => void this.#check(), wait) as unknown as number;
  }

  #edited(): void {
    const value = this.value();
    const now = JSON.stringify(value);
    this.#told = [...this.#told, now].slice(now.length > 1e5 ? -3 : -echoes);
    this.later();
    this.changed();
    this.#announce(value);
  }

  #written(): Item[] {
    return this.items.filter(({ value: { id: _, criteria, instruction, ...more } }) => instruction || Object.keys(more).length || (Array.isArray(criteria) && criteria.some((c) => c !== '')));
  }

  async #check(): Promise<void> {
    const lint = this.#lint(), stop = (this.#stop = new AbortController());
    const asked = this.#written();
    if (!lint) return;
    try {
      const found = asked.length ? await lint(this.value(), stop.signal) : [];
      if (stop.signal.aborted) return;
      if (!Array.isArray(found)) throw new TypeError('lint: expected an array of findings');
      for (const item of this.items) item.found = [];
      for (const f of found) {
        const at = /^\/(?:assertions\/)?(\d+)(.*)$/.exec(f?.pointer ?? '');
        const item = at && asked[Number(at[1])];
        if (item && typeof f.message === 'string') item.found.push({ ...f, pointer: at[2] });
      }
      this.linting = '';
      this.checked = true;
    } catch (e) {
      if (stop.signal.aborted) return;
      this.linting = messageOf(e);
    }
    this.changed();
  }
}

// textOf returns the text of a criterion that can be edited as text, else undefined.
export const textOf = (c: Criterion): string | undefined => (typeof c === 'string' ? c : c && typeof c.text === 'string' && !c.template ? c.text : undefined);
