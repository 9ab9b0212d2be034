// Human labels: the queues, and one queue to label.
import '../frame';
import { Queues } from '../label/queues';
import { QueuePage } from '../label/queue';
import { decoded, usePlace } from '../url';

export default function Label() {
  const { path } = usePlace();
  const part = /^\/label\/([^/]+)\/*$/.exec(path)?.[1];
  return part === undefined ? <Queues /> : <QueuePage key={part} name={decoded(part)} />;
}
