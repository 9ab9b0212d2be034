// A stored assertion set that gets a new version.
import type { StoredVersion } from '../api';
import { Failure, ask, get } from '../load';

export interface Stored extends StoredVersion { assertions: Record<string, unknown>[]; prompt?: string; threshold?: number; templates?: unknown; context?: string }

export const setAddress = (name: string): string => '/v1/assertion-sets/' + encodeURIComponent(name);

// storedSet loads a set; undefined if there is none at this address.
export const storedSet = <T = Stored>(at: string): Promise<T | undefined> => get<T>(at).catch((e: unknown) => {
  if (e instanceof Failure && e.problem.status === 404) return undefined;
  throw e;
});

// putSet stores a new version with other assertions, and keeps the rest of the loaded
// version. The server refuses it (409) if somebody else has changed the set since then.
export function putSet(at: string, before: Stored | undefined, assertions: Record<string, unknown>[], prompt = before?.prompt, context = before?.context): Promise<{ number?: number }> {
  const { threshold, templates } = before ?? {};
  const body = { assertions, ...(prompt ? { prompt } : {}), ...(threshold === undefined ? {} : { threshold }), ...(templates ? { templates } : {}), ...(context ? { context } : {}) };
  return ask('PUT', at, body, undefined, before ? { 'If-Match': `"${before.version}"` } : { 'If-None-Match': '*' });
}
