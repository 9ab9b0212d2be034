// The script of a report. It shows all rows in the view of a run, in place of the page's
// static part. The static part stays if anything fails.
import { render } from 'preact';
import { Embedded, read, type Head } from './embedded';
import { RunView } from './run/view';
import { keepInHash } from './url';

async function start(): Promise<void> {
  const app = document.getElementById('app')!;
  if (document.getElementById('matrix')?.textContent === '""') return; // the page explains why
  if (typeof DecompressionStream === 'undefined') throw new Error('this browser cannot unpack the data');
  const source = new Embedded(await read<Head>('head'));
  await source.matrix();
  keepInHash();
  render(<RunView source={source} />, app);
  document.documentElement.classList.add('live');
  swap(document.getElementById('static')!, app);
}

// swap removes the static part from the page, which keeps the page light. It is restored
// for printing, with every case open.
function swap(still: HTMLElement, app: HTMLElement): void {
  const place = document.createComment('');
  still.replaceWith(place);
  addEventListener('beforeprint', () => {
    place.replaceWith(still);
    app.hidden = true;
  });
  addEventListener('afterprint', () => {
    still.replaceWith(place);
    app.hidden = false;
  });
}

start().catch((e: unknown) => {
  const note = document.getElementById('needs')!;
  note.append(' (' + (e instanceof Error ? e.message : String(e)) + ')');
});
