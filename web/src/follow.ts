// Server events about a run, an evaluation or a trial.
import { heard } from './load';
import { eventsOf, type StreamEvent } from './panel/events';

// follow yields the events at an address, and reconnects when the stream breaks. The last
// value is a reply without events: either there are no more, or the server refuses them.
export async function* follow(at: string, signal: AbortSignal): AsyncGenerator<StreamEvent & { reply?: Response }> {
  for (let last = '', wait = 500; !signal.aborted; wait = Math.min(2 * wait, 10_000)) {
    let reply: Response | undefined;
    try {
      reply = await fetch(at + '/events', { signal, headers: last ? { 'Last-Event-ID': last } : {} });
      heard.forEach((f) => f(reply!.status));
      if (reply.ok && reply.body && reply.status !== 204) {
        for await (const event of eventsOf(reply.body)) {
          wait = 500;
          if (event.id) last = event.id;
          yield event;
        }
      }
    } catch {
      if (!signal.aborted) heard.forEach((f) => f(0));
    }
    if (reply && (reply.status === 204 || (reply.status >= 400 && reply.status < 500 && reply.status !== 429))) return yield { name: '', id: '', data: '', reply };
    await new Promise((done) => setTimeout(done, wait));
  }
}
