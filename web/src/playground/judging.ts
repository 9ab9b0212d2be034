// Verdicts on the output, each kept with its subject: the assertion as written, the input
// and the output. So only changes are judged again, and a change that is reverted has its
// verdict at once.
import type { Assertion } from '../../panel/panel';
import type { Decision, Evaluation, Problem, StreamEnd } from '../api';
import { follow } from '../follow';
import { ask, Failure, get, problemOf } from '../load';

// About is the subject of the verdicts.
export interface About { input: string; output: string; vars: Record<string, string>; context?: string; templates?: unknown }

export interface Verdict { decision: Decision; at: Date; evaluation: string }

// Wanted is an assertion with its verdict's key.
export interface Wanted { key: string; value: Assertion }

interface Going { keys: string[]; stop: AbortController; id: string }

export interface Timing { asked: number; of: number; ms: number }

const most = 500; // maximum verdicts kept

export class Judging {
  verdicts = new Map<string, Verdict>();
  refused = new Map<string, string>(); // assertions that the server cannot parse, and why
  problem: Problem | undefined;        // why the last evaluation did not start or finish
  last: Timing | undefined;            // timing of the last finished evaluation
  times: number[] = [];                // milliseconds, of evaluations on this page
  evaluation = '';                     // id of the last evaluation
  #going = new Set<Going>();
  #abouts = new Map<string, number>();

  constructor(readonly changed: () => void, readonly ended: () => void) {}

  // key returns the key of a verdict.
  key(a: Assertion, about: About): string {
    const text = JSON.stringify(about);
    let n = this.#abouts.get(text);
    if (n === undefined) {
      if (this.#abouts.size >= 50) this.#abouts.clear(); // texts may be long
      this.#abouts.set(text, (n = this.#next++));
    }
    return n + ' ' + JSON.stringify(a);
  }
  #next = 0;

  going(key: string): boolean { return [...this.#going].some((g) => g.keys.includes(key)); }
  get busy(): boolean { return this.#going.size > 0; }

  // judge requests the missing verdicts, and cancels evaluations that nothing needs any
  // more. since is the time of the person's change.
  async judge(wanted: Wanted[], about: About, since: number): Promise<void> {
    const all = new Set(wanted.map((w) => w.key));
    for (const g of [...this.#going]) if (!g.keys.some((k) => all.has(k))) this.#cancel(g);
    const missing = wanted.filter((w) => !this.verdicts.has(w.key) && !this.refused.has(w.key) && !this.going(w.key));
    if (!missing.length) return;
    await this.#start(missing, about, since, wanted.length);
  }

  // again drops verdicts, so that they are requested again.
  again(keys: string[]): void {
    for (const k of keys) { this.verdicts.delete(k); this.refused.delete(k); }
    this.problem = undefined;
  }

  // cancel cancels all evaluations in flight.
  cancel(): void { for (const g of [...this.#going]) this.#cancel(g); }

  #cancel(g: Going): void {
    g.stop.abort();
    this.#going.delete(g);
    if (g.id) void ask('DELETE', at(g.id)).catch(() => undefined);
    this.changed();
  }

  async #start(missing: Wanted[], about: About, since: number, of: number): Promise<void> {
    const going: Going = { keys: missing.map((w) => w.key), stop: new AbortController(), id: '' };
    this.#going.add(going);
    this.problem = undefined;
    this.changed();
    let readable: Wanted[] | undefined;
    try {
      const body = { agent_input: about.input, agent_output: about.output, vars: about.vars, ...(about.context ? { context: about.context } : {}), ...(about.templates ? { templates: about.templates } : {}), assertions: missing.map((w) => w.value), keep_s: 60 };
      going.id = this.evaluation = (await ask<{ id: string }>('POST', '/v1/evaluations', body)).id;
      if (going.stop.signal.aborted) void ask('DELETE', at(going.id)).catch(() => undefined); // it was cancelled before its id was known
      else if (await this.#follow(going)) this.#took(performance.now() - since, missing.length, of);
    } catch (e) {
      if (!going.stop.signal.aborted) readable = this.#failed(e, missing);
    }
    this.#going.delete(going);
    this.changed();
    if (readable?.length) await this.#start(readable, about, since, of);
  }

  #took(ms: number, asked: number, of: number): void {
    this.last = { asked, of, ms };
    this.times = [...this.times, ms].slice(-1000);
    this.ended();
  }

  // failed returns the assertions that can be judged although others cannot be parsed.
  #failed(e: unknown, missing: Wanted[]): Wanted[] | undefined {
    const problem = problemOf(e, 'The verdicts cannot be read');
    const wrong = new Set<number>();
    for (const m of problem.errors ?? []) {
      const n = /^\/assertions\/(\d+)/.exec(m.pointer ?? '')?.[1], w = n === undefined ? undefined : missing[Number(n)];
      if (!w) continue;
      wrong.add(Number(n));
      if (!this.refused.has(w.key)) this.refused.set(w.key, m.message);
    }
    if (!wrong.size) { this.problem = problem; return undefined; }
    return missing.filter((_, i) => !wrong.has(i));
  }

  // follow receives verdicts as they arrive; true after the last one. After a broken stream
  // it resumes after the last received event.
  async #follow(g: Going): Promise<boolean> {
    const left = new Set(g.keys.keys());
    const take = (d: Decision) => {
      left.delete(d.index);
      if (this.verdicts.size >= most) this.verdicts.delete(this.verdicts.keys().next().value!);
      this.verdicts.set(g.keys[d.index]!, { decision: d, at: new Date(), evaluation: g.id });
    };
    for await (const { name, data, reply } of follow(at(g.id), g.stop.signal)) {
      if (reply?.status === 410 || reply?.status === 204) return await this.#stored(g, take);
      if (reply) throw new Failure((await reply.json().catch(() => undefined) as Problem | undefined) ?? { type: '', title: 'Status ' + reply.status, status: reply.status, detail: 'The server replied with status ' + reply.status + '.' });
      const said: unknown = data ? JSON.parse(data) : undefined;
      if (name === 'verdict') { take(said as Decision); this.changed(); }
      if (name === 'end') {
        const why = (said as StreamEnd).errors?.find((f) => !f.id)?.message;
        if (left.size && why) throw new Failure({ type: '', title: 'The evaluation failed', status: -1, detail: why });
        return left.size ? await this.#stored(g, take) : true;
      }
    }
    return false;
  }

  // stored reads what the server has stored of an evaluation whose events are gone.
  async #stored(g: Going, take: (d: Decision) => void): Promise<boolean> {
    const kept = await get<Evaluation>(at(g.id), g.stop.signal);
    const results = (kept.response as { results?: Decision[] } | undefined)?.results;
    if (!Array.isArray(results)) throw new Failure({ type: '', title: 'The verdicts are gone', status: -1, detail: 'The server no longer has the verdicts of this evaluation. Judge again.' });
    results.forEach((r, index) => take({ ...r, index }));
    return true;
  }
}

const at = (id: string): string => '/v1/evaluations/' + encodeURIComponent(id);
