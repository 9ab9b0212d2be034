// Labels of people: the queues, and one queue to label.
import '../frame';
import { Queues } from '../label/queues';
import { QueuePage } from '../label/queue';
import { usePlace } from '../url';

export default function Label() {
  const { path } = usePlace();
  const part = /^\/label\/([^/]+)\/*$/.exec(path)?.[1];
  if (part === undefined) return <Queues />;
  let name = part;
  try { name = decodeURIComponent(part); } catch { /* The server says that there is no such queue. */ }
  return <QueuePage key={name} name={name} />;
}
