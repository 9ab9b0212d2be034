// Requests of the labelling pages.
import type { Detail, Label, LabelItem, LabelList, Lease, LeaseRequest, NewLabel, SkippedItem, TrafficEvent } from '../api';
import { ask, get } from '../load';
import { runAddress } from '../http';
import { address } from '../url';

export const queueAddress = (queue: string): string => '/v1/label-queues/' + encodeURIComponent(queue);

// hold is the length of a lease, in seconds. Typing renews the lease.
export const hold = 300;

// patience is the timeout of a request, in milliseconds. The request is then sent again
// with the same idempotency key.
const patience = 20_000;

// take leases the next item that is not in skip; undefined if none is left. With resume, it
// returns the item that the person has already leased, if there is one.
export const take = (queue: string, skip: SkippedItem[], resume = false): Promise<Lease | undefined> =>
  ask('POST', queueAddress(queue) + '/lease', { seconds: hold, ...(resume ? { resume } : {}), ...(skip.length ? { skip } : {}) } satisfies LeaseRequest);

export const renew = (queue: string, lease: string): Promise<Lease> => ask('POST', queueAddress(queue) + '/lease', { seconds: hold, lease });

// giveBack ends a lease, so that others can get the item at once. The request is sent even
// while the page is closing. If it is lost, the lease expires.
export function giveBack(queue: string, lease: string): void {
  fetch(queueAddress(queue) + '/lease/' + encodeURIComponent(lease), { method: 'DELETE', keepalive: true, credentials: 'same-origin', headers: { 'X-Proviso': '1' } }).catch(() => undefined);
}

// add writes a label. Requests with the same key write it only once.
export const add = (label: NewLabel, key: string): Promise<Label> => ask('POST', '/v1/labels', label, AbortSignal.timeout(patience), { 'Idempotency-Key': key });

export const remove = (id: string): Promise<void> => ask('DELETE', '/v1/labels/' + encodeURIComponent(id));

export const own = (query: Record<string, string>): Promise<LabelList> => get(address('/v1/labels', { by: 'me', ...query }));

// labelsOf lists everybody's current labels on a row.
export const labelsOf = (run: string, index: number, signal: AbortSignal): Promise<LabelList> => get(address('/v1/labels', { run, index: String(index), limit: '200' }), signal);

// itemOf loads the subject of a label from its run.
export async function itemOf(l: Label): Promise<LabelItem> {
  if (l.event) {
    const e = await get<TrafficEvent>('/v1/events/' + encodeURIComponent(l.event));
    return { run: '', index: 0, event: e.id, assertion: l.assertion, case: e.id, title: e.agent, instruction: '', criteria: [], question: l.assertion, input: e.input ?? '', prompt: '', vars: [['input', e.input ?? '']], output: e.output ?? e.error ?? '' };
  }
  const d = await get<Detail>(`${runAddress(l.run ?? '')}/results/${l.index ?? 0}/detail`);
  const a = d.assertions.find((x) => x.name === l.assertion);
  return {
    run: l.run ?? '', index: d.index, assertion: l.assertion, case: d.case, title: d.title, instruction: a?.asks ?? '', criteria: (a?.criteria ?? []).map((c) => c.text),
    question: a?.asks ?? a?.value ?? '', input: '', prompt: d.prompt, vars: d.vars, output: d.output ?? '', ...(d.cut ? { cut: d.cut } : {}),
  };
}

export const newKey = (): string => Array.from(crypto.getRandomValues(new Uint32Array(4)), (n) => n.toString(36)).join('-');

interface Subject { event?: string; run?: string; index?: number; assertion: string }

// keyOf returns a unique key for an item.
export const keyOf = (x: Subject): string => JSON.stringify(x.event ? ['event', x.event, x.assertion] : [x.run ?? '', x.index ?? 0, x.assertion]);
