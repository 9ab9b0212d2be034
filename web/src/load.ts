// Loading of data. Loaded data stays on the page while it is reloaded, and when the reload
// fails.
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Problem } from './api';

export class Failure extends Error {
  constructor(readonly problem: Problem) { super(problem.detail || problem.title); }
}

// problemOf returns the message of a failed request.
export const problemOf = (e: unknown, title = 'The answer cannot be read'): Problem => (e instanceof Failure ? e.problem : { type: 'about:blank', title, status: -1, detail: String(e) });

// heard is called with the status of every reply, 0 if there was none. The shell uses it to
// detect that the server is unreachable, or that the session has ended.
export const heard = new Set<(status: number) => void>();

// again is called when the server replies again. It reloads what failed.
export const again = new Set<() => void>();

// get reads JSON from the server. Every error is a Failure; status 0 means that the server
// did not reply.
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return ask<T>('GET', path, undefined, signal);
}

export async function ask<T>(method: string, path: string, body?: unknown, signal?: AbortSignal, headers: Record<string, string> = {}): Promise<T> {
  let reply: Response;
  try {
    reply = await fetch(path, {
      method, signal: signal ?? null, credentials: 'same-origin', headers: { 'X-Proviso': '1', ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...headers },
      body: body === undefined ? null : JSON.stringify(body),
    });
  } catch (e) {
    if (signal?.aborted) throw e;
    heard.forEach((f) => f(0));
    throw new Failure({ type: 'about:blank', title: 'The server does not reply', status: 0, detail: 'The server does not reply. The page shows what was loaded before.' });
  }
  heard.forEach((f) => f(reply.status));
  if (reply.status === 204) return undefined as T;
  const data: unknown = await reply.json().catch(() => undefined);
  if (!reply.ok) {
    const problem = data as Problem | undefined;
    throw new Failure(problem?.title ? problem : { type: 'about:blank', title: 'Status ' + reply.status, status: reply.status, detail: 'The server replied with status ' + reply.status + '.' });
  }
  return data as T;
}

export interface Task { busy: boolean; problem: Problem | undefined; run: (task: () => Promise<unknown>) => Promise<void>; forget: () => void }

// useTask runs a person's actions one at a time, and keeps the reason why the last one
// failed.
export function useTask(title?: string): Task {
  const [busy, set] = useState(false), [problem, say] = useState<Problem>();
  const run = async (task: () => Promise<unknown>) => {
    if (busy) return;
    set(true);
    say(undefined);
    try { await task(); } catch (e) { say(problemOf(e, title)); }
    set(false);
  };
  return { busy, problem, run, forget: () => say(undefined) };
}

export interface Loaded<T> { data?: T; problem?: Problem; loading: boolean; since?: Date; retry: () => void }

interface State<T> { of: unknown[]; data?: T; problem?: Problem; loading: boolean; since?: Date }

const same = (a: unknown[], b: unknown[]): boolean => a.length === b.length && a.every((v, i) => v === b[i]);

// useLoad calls load when an input changes, and when retry is called. It drops the data of
// other inputs.
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, inputs: unknown[]): Loaded<T> {
  const [state, set] = useState<State<T>>({ of: inputs, loading: true });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    set((s) => (same(s.of, inputs) ? { ...s, loading: true } : { of: inputs, loading: true }));
    load(abort.signal).then(
      (data) => { if (!abort.signal.aborted) set({ of: inputs, data, loading: false, since: new Date() }); },
      (e: unknown) => {
        if (abort.signal.aborted) return;
        set((s) => ({ ...s, problem: problemOf(e), loading: false }));
      },
    );
    return () => abort.abort();
  }, [...inputs, turn]);
  const retry = useCallback(() => setTurn((n) => n + 1), []);
  const failed = state.problem !== undefined;
  useEffect(() => {
    if (!failed) return;
    again.add(retry);
    return () => { again.delete(retry); };
  }, [failed]);
  return same(state.of, inputs) ? { ...state, retry } : { loading: true, retry };
}
