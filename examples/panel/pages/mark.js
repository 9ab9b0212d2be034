// Marks a part of an element's text. The offsets of the panel are UTF-16 units, as those of
// JavaScript are, so that they are the offsets of a Range in the text node.
export function mark(element, { start, end }) {
  const range = new Range();
  range.setStart(element.firstChild, start);
  range.setEnd(element.firstChild, end);
  CSS.highlights.set('evidence', new Highlight(range));
  element.scrollIntoView({ block: 'nearest' });
}

export async function post(path, body = {}) {
  const reply = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error((await reply.json()).detail ?? 'status ' + reply.status);
  return reply.json();
}
