// The state of the playground: entered texts, the answer, and the verdicts. It outlives the
// page while other pages of the app are open. The texts also survive a reload.
import type { Assertion } from '../../panel/panel';
import type { Answered, Problem, StoredSet } from '../api';
import { ask, get, problemOf } from '../load';
import { setAddress } from '../pages/storedset';
import { findings } from '../panel/connection';
import { Edit, type Item } from '../panel/edit';
import { Judging, type About, type Wanted } from './judging';
import { asInput, names, question, valueOf, type Vars } from './template';

// Draft is what is kept in the tab's session storage: texts, and no key.
export interface Draft {
  prompt: string; promptOf: string; vars: Vars; input: string; output: string; assertions: Assertion[];
  base?: Base; named: { set: string; dataset: string; description: string };
}

// Base is the stored set that the assertions come from, as loaded.
export interface Base { name: string; version: string; number: number; assertions: string; prompt: string; rest: Record<string, unknown> }

const place = 'proviso.playground', pause = 1000; // milliseconds without input before judging

const none = (): Draft => ({ prompt: '', promptOf: '', vars: {}, input: '', output: '', assertions: [], named: { set: '', dataset: '', description: '' } });

export class Play {
  draft = none();
  auto = true;
  edit: Edit;
  judging: Judging;
  asking = false;
  answered: Answered | undefined;      // facts about the last answer
  problem: Problem | undefined;        // why there is no answer
  undo: { what: string; draft: Draft } | undefined;
  shown = new Map<number, string>();   // keys of the shown verdicts, by item
  full = false;                        // the browser's storage is full
  ended = 0;                           // number of evaluations that ended on this page
  listeners = new Set<() => void>();
  #timer = 0;
  #saving = 0;
  #stop: AbortController | undefined;

  constructor() {
    this.judging = new Judging(() => this.changed(), () => { this.ended++; this.changed(); });
    this.edit = new Edit(() => this.changed(), (assertions) => { this.draft.assertions = assertions; this.touched(); }, () => (assertions, signal) => lint(assertions, signal, this.draft.base?.rest.templates));
    this.draft = kept();
    this.edit.put(structuredClone(this.draft.assertions));
  }

  changed(): void { this.listeners.forEach((f) => f()); }

  // set changes texts. Dependent verdicts follow after a pause.
  set(to: Partial<Draft>): void {
    Object.assign(this.draft, to);
    this.touched();
  }

  // touched saves the texts, and judges changes after a pause in typing.
  touched(): void {
    clearTimeout(this.#saving);
    this.#saving = window.setTimeout(() => this.save(), 200);
    clearTimeout(this.#timer);
    if (this.auto) {
      const since = performance.now();
      this.#timer = window.setTimeout(() => this.judge(since), pause);
    }
    this.changed();
  }

  save(): void {
    clearTimeout(this.#saving);
    try {
      const text = JSON.stringify(this.draft);
      if (text === JSON.stringify(none())) sessionStorage.removeItem(place);
      else sessionStorage.setItem(place, text);
      this.full = false;
    } catch {
      this.full = true;
      this.changed();
    }
  }

  // replace replaces texts, which undo can restore.
  replace(what: string, to: Partial<Draft>): void {
    this.undo = { what, draft: structuredClone(this.draft) };
    this.take({ ...this.draft, ...to });
  }

  back(): void {
    if (this.undo) this.take(this.undo.draft);
    this.undo = undefined;
    this.changed();
  }

  private take(d: Draft): void {
    const assertions = JSON.stringify(d.assertions) !== JSON.stringify(this.edit.value());
    this.draft = structuredClone(d);
    if (assertions) this.edit.put(structuredClone(d.assertions));
    this.touched();
  }

  about(): About {
    const d = this.draft, used = names(d.prompt), vars = Object.fromEntries(used.map((n) => [n, valueOf(d.vars, n)]));
    const { context, templates } = d.base?.rest ?? {};
    return { input: used.length ? asInput(used, vars) : d.input, output: d.output, vars, ...(typeof context === 'string' ? { context } : {}), ...(templates ? { templates } : {}) };
  }

  // wanted returns the items with an assertion that can be judged.
  wanted(): (Wanted & { item: Item })[] {
    const about = this.about();
    return this.edit.items.flatMap((item) => {
      const value = written(item.value);
      return value ? [{ item, value, key: this.judging.key(value, about) }] : [];
    });
  }

  judge(since = performance.now()): void {
    clearTimeout(this.#timer);
    if (this.draft.output) void this.judging.judge(this.wanted(), this.about(), since);
  }

  // ask sends the prompt to a provider. The answer is judged at once.
  async ask(provider: string): Promise<void> {
    const since = performance.now(), d = this.draft, stop = new AbortController();
    const q = question(d.prompt, d.vars, d.input, this.edit.value());
    this.#stop?.abort();
    this.#stop = stop;
    this.asking = true;
    this.problem = undefined;
    this.changed();
    try {
      const answer = await ask<Answered>('POST', '/v1/answers', { provider, prompt: q.prompt, vars: q.vars }, stop.signal);
      const output = typeof answer.output === 'string' ? answer.output : JSON.stringify(answer.output, null, 2);
      if (this.draft.output && this.draft.output !== output) this.replace('A new answer replaced the earlier one.', { output });
      else this.set({ output });
      this.answered = answer;
      this.judge(since);
    } catch (e) {
      if (stop.signal.aborted) return;
      this.problem = problemOf(e);
    }
    this.asking = false;
    this.changed();
  }

  endAsking(): void {
    this.#stop?.abort();
    this.asking = false;
    this.changed();
  }

  // move moves an assertion one place up or down.
  move(item: Item, by: number): void {
    const list = this.edit.items, at = list.indexOf(item), to = at + by;
    if (at < 0 || to < 0 || to >= list.length) return;
    list.splice(at, 1);
    list.splice(to, 0, item);
    this.edit.set(item, {});
  }

  // open replaces the assertions by a stored set.
  async open(name: string, signal: AbortSignal): Promise<void> {
    this.takeSet(await get<StoredSet>(setAddress(name), signal));
  }

  takeSet(set: StoredSet): void {
    const base = baseOf(set), mine = this.edit.value(), what = mine.length ? `The assertions here were replaced by those of ${set.name}.` : '';
    const to: Partial<Draft> = { assertions: set.assertions, base, named: { ...this.draft.named, set: set.name } };
    if (base.prompt && !this.draft.prompt) to.prompt = base.prompt;
    if (what && !same(mine, this.draft.base)) this.replace(what, to);
    else this.take({ ...this.draft, ...to });
  }

  // edited reports whether the assertions differ from the stored set.
  get edited(): boolean { return !same(this.edit.value(), this.draft.base); }

  // clear clears everything, as on logout.
  clear(): void {
    clearTimeout(this.#timer);
    this.endAsking();
    this.judging.cancel();
    this.judging.verdicts.clear();
    this.undo = this.answered = this.problem = undefined;
    this.draft = none();
    this.edit.put([]);
    this.save();
  }
}

const same = (mine: Assertion[], base: Base | undefined): boolean => !!base && JSON.stringify(mine) === base.assertions;

export function baseOf(set: StoredSet): Base {
  const { name, version, number, current: _, created_at: _at, created_by: _by, prompt_hash: _hash, size: _size, assertions, prompt, ...rest } = set;
  return { name, version, number, assertions: JSON.stringify(assertions), prompt: prompt ?? '', rest };
}

// written returns an assertion as sent, without empty criteria. It is undefined if there is
// nothing to judge.
export function written(a: Assertion): Assertion | undefined {
  const { criteria, ...rest } = a;
  const texts = Array.isArray(criteria) ? criteria.filter((c) => c !== '') : criteria;
  if (Array.isArray(texts) ? texts.length > 0 : texts !== undefined) return { ...rest, criteria: texts! };
  return rest.check !== undefined || rest.instruction ? rest : undefined;
}

// lint requests lint findings on the wording from the server.
async function lint(assertions: Assertion[], signal: AbortSignal, templates?: unknown) {
  return findings(await fetch('/v1/lint', { method: 'POST', signal, credentials: 'same-origin', headers: { 'Content-Type': 'application/json', 'X-Proviso': '1' }, body: JSON.stringify({ assertions, ...(templates ? { templates } : {}) }) }));
}

// kept returns the texts of the tab. It ignores texts that cannot be parsed.
function kept(): Draft {
  try {
    const found = JSON.parse(sessionStorage.getItem(place) ?? '{}') as Partial<Draft>, empty = none();
    const text = (v: unknown): string => (typeof v === 'string' ? v : '');
    return {
      ...empty, prompt: text(found.prompt), promptOf: text(found.promptOf), input: text(found.input), output: text(found.output),
      vars: Object.fromEntries(Object.entries(found.vars ?? {}).filter((e) => typeof e[1] === 'string')),
      assertions: Array.isArray(found.assertions) ? found.assertions : [], named: { ...empty.named, ...found.named }, ...(found.base ? { base: found.base } : {}),
    };
  } catch {
    return none();
  }
}

let only: Play | undefined;

// play returns the state of the tab.
export function play(): Play {
  if (!only) {
    only = new Play();
    addEventListener('pagehide', () => only!.save());
    addEventListener('proviso-logout', () => only!.clear());
  }
  return only;
}
