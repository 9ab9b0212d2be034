// The panel's connection to proviso: a token from the host, which is only kept in memory,
// the verdicts of one evaluation as they arrive, and labels.
import type { Assertion, Evaluation, Finding, Result, Token } from '../../panel/panel';
import { eventsOf } from './events';
import type { Draft, State } from './state';

// Source is the current input of the host.
export interface Source { endpoint: string; evaluation: string; getToken: () => Promise<Token> }

// Refusal is an error that a retry alone does not fix.
class Refusal extends Error {}

const first = 500, slowest = 10_000; // milliseconds between two attempts

export class Connection {
  #token = '';
  #asking: Promise<string> | undefined;

  readonly #source: () => Source;
  readonly #state: State;

  constructor(source: () => Source, state: State) {
    this.#source = source;
    this.#state = state;
  }

  // forget drops the token, which is valid for one evaluation.
  forget(): void { this.#token = ''; this.#asking = undefined; }

  // follow receives verdicts until the evaluation has ended or the signal aborts. After a
  // broken stream it resumes after the last received event.
  async follow(signal: AbortSignal): Promise<void> {
    const state = this.#state;
    let wait = first, last = 0, again = false;
    while (!signal.aborted) {
      let came = false;
      try {
        const reply = await this.#ask(this.#evaluation() + '/events', { signal, headers: last ? { 'Last-Event-ID': String(last) } : {} });
        if (reply.status === 410) return await this.#kept(signal);
        if (!reply.ok) await refuse(reply, 'the verdicts');
        if (state.lost) state.change({ lost: false });
        if (!reply.body || reply.status === 204) last = 0; // nothing followed the last verdict, not even the end
        else for await (const e of eventsOf(reply.body)) {
          if (signal.aborted) return;
          const data: unknown = JSON.parse(e.data), id = /^\d{1,15}$/.test(e.id) ? Number(e.id) : last;
          if (e.name === 'start') state.begin((data as { assertions?: [] }).assertions ?? []);
          else if (e.name === 'verdict') {
            state.verdict(data as Result & { index: number }, id);
            if (id > last) { last = id; came = true; }
          } else if (e.name === 'end') {
            if (!state.missing() || again) return state.end(data as Evaluation);
            again = came = true; // a verdict was lost: start again from the beginning
            last = 0;
            break;
          }
        }
      } catch (e) {
        if (signal.aborted) return;
        if (e instanceof Refusal) return state.stop(e.message);
      }
      if (came) { // the stream broke after it had delivered something
        wait = first;
        continue;
      }
      state.change({ lost: true });
      await pause(wait);
      wait = Math.min(2 * wait, slowest);
    }
  }

  // label stores a person's verdict and returns its id.
  async label(assertion: string, draft: Draft): Promise<string> {
    const reply = await this.#ask('/v1/labels', {
      method: 'POST', headers: { 'Content-Type': 'application/json', 'Idempotency-Key': draft.nonce },
      body: JSON.stringify({ evaluation: this.#source().evaluation, assertion, label: draft.label, note: draft.note }),
    });
    if (!reply.ok) await refuse(reply, 'the label', true);
    return ((await reply.json()) as { id: string }).id;
  }

  async undo(label: string): Promise<void> {
    const reply = await this.#ask('/v1/labels/' + encodeURIComponent(label), { method: 'DELETE' });
    if (!reply.ok && reply.status !== 404) await refuse(reply, 'the label', true);
  }

  // lint returns findings, and the mistakes of unreadable assertions.
  async lint(assertions: Assertion[], signal: AbortSignal): Promise<Finding[]> {
    return findings(await this.#ask('/v1/lint', { method: 'POST', signal, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ assertions }) }));
  }

  // kept loads what the server has stored of an evaluation whose events are gone.
  async #kept(signal: AbortSignal): Promise<void> {
    const reply = await this.#ask(this.#evaluation(), { signal });
    const response = reply.ok ? ((await reply.json()) as { response?: Evaluation }).response : undefined;
    if (response) this.#state.feed(response);
    else this.#state.stop('proviso no longer has the verdicts of this evaluation.');
  }

  #evaluation(): string { return '/v1/evaluations/' + encodeURIComponent(this.#source().evaluation); }

  // ask sends a request with a token, and retries it once with a new token if the server
  // refuses the first. It never sends cookies, follows no redirect and stores nothing.
  async #ask(path: string, init: RequestInit): Promise<Response> {
    for (let again = false; ; again = true) {
      const token = await this.#current(init.signal);
      const reply = await fetch(address(this.#source().endpoint) + path, {
        ...init, headers: { ...init.headers, Authorization: 'Bearer ' + token },
        mode: 'cors', credentials: 'omit', cache: 'no-store', redirect: 'error', referrerPolicy: 'no-referrer',
      }).catch((e: unknown) => { throw e instanceof TypeError ? new Error('proviso cannot be reached') : e; });
      if (reply.status !== 401 || again) return reply;
      if (this.#token === token) this.#token = '';
    }
  }

  // current returns the token. Concurrent requests ask the host only once.
  async #current(signal?: AbortSignal | null): Promise<string> {
    if (this.#token) return this.#token;
    const asking = (this.#asking ??= this.#fresh());
    try {
      const token = await asking;
      signal?.throwIfAborted();
      if (this.#asking === asking) this.#token = token; // otherwise the token is for the previous evaluation
      return token;
    } finally {
      if (this.#asking === asking) this.#asking = undefined;
    }
  }

  async #fresh(): Promise<string> {
    try {
      const token = (await this.#source().getToken())?.token;
      if (typeof token !== 'string' || !/^[!-~]{1,4096}$/.test(token)) throw new Error('it returned no token');
      return token;
    } catch (e) {
      throw new Refusal('This page could not get a token for proviso: ' + messageOf(e));
    }
  }
}

// address validates proviso's address, to which tokens are sent.
function address(endpoint: string): string {
  if (!/^https?:\/\/[^?#@\\\s]+$/i.test(endpoint)) throw new Refusal('endpoint: expected the address of proviso, such as https://proviso.example');
  return endpoint.replace(/\/+$/, '');
}

// refuse throws the server's error. Only overload and server errors are retried.
async function refuse(reply: Response, what: string, always = false): Promise<never> {
  const problem = (await reply.json().catch(() => ({}))) as { title?: string; detail?: string };
  const message = problem.detail || problem.title || 'status ' + reply.status;
  if (always || (reply.status < 500 && reply.status !== 429)) throw new Refusal(`proviso refused ${what}: ${String(message).slice(0, 500)}`);
  throw new Error(message);
}

// findings parses a lint response: that of POST /v1/lint, or a list.
export async function findings(reply: Response): Promise<Finding[]> {
  const body = (await reply.json().catch(() => ({}))) as { items?: { findings: Finding[] }[]; errors?: Finding[]; detail?: string } & Finding[];
  const found = reply.ok ? body.items?.flatMap((i) => i.findings) ?? body : body.errors;
  if (!Array.isArray(found)) throw new Error(body.detail ?? 'status ' + reply.status);
  return found;
}

export const messageOf = (e: unknown): string => (e instanceof Error ? e.message : String(e));

const pause = (ms: number): Promise<void> => new Promise((done) => { setTimeout(done, ms); });
