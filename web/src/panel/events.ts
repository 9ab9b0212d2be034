// Server-sent events, read from fetch: EventSource cannot send a token.

export interface StreamEvent { name: string; id: string; data: string }

const longest = 32 << 20; // UTF-16 units of one event; an evaluation has no longer ones

// eventsOf yields the events of a stream until it ends. It examines each part only once, so
// that the time for an event of 10 MB in many parts is linear in its size.
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = body.getReader(), decoder = new TextDecoder();
  let line: string[] = [], size = 0, name = '', id = '', data: string[] = [];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      let from = 0;
      for (let at; (at = text.indexOf('\n', from)) >= 0; from = at + 1) {
        line.push(text.slice(from, at));
        const whole = line.join('').replace(/\r$/, '');
        line = [];
        if (whole === '') {
          if (name || data.length) yield { name, id, data: data.join('\n') };
          name = id = '';
          data = [];
          size = 0;
          continue;
        }
        const colon = whole.indexOf(':'), field = colon < 0 ? whole : whole.slice(0, colon);
        const rest = colon < 0 ? '' : whole.slice(colon + (whole[colon + 1] === ' ' ? 2 : 1));
        if (field === 'event') name = rest;
        else if (field === 'id') id = rest;
        else if (field === 'data') data.push(rest);
      }
      line.push(text.slice(from));
      if ((size += text.length - from) > longest) throw new Error('an event is too large');
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
