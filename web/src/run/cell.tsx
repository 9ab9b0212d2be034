// The cells of the matrix. Cells that need attention are bold, the others light.
import { ERROR, FAIL, type Preview } from '../api';
import { count, percent, plural } from '../number';
import { Bar, asked, decided, rateText } from '../parts/rate';
import { Squares } from '../parts/squares';
import { glyphs, names as statusNames } from '../parts/status';
import { plain } from '../text';
import { passes, verdictsOf, type Model, type Tally } from './model';
import type { ColumnName } from './names';

const least = 104, previewed = 180; // minimum pixels of a cell: without and with a preview

const widest = 230; // maximum pixels of the column of cases

// cellWidth divides the width between the column of cases and the others. Case names get
// the space that the others do not need for previews, or without them if they do not fit.
export function cellWidth(width: number, n: number): { first: number; each: number } {
  const share = Math.max(96, Math.min(n <= 2 ? 240 : 200, width * 0.28));
  const spare = width - previewed * n, fits = spare >= share || n <= 1;
  const first = Math.round(Math.max(share, Math.min(widest, fits ? spare : width - least * n)));
  return { first, each: Math.max(n <= 1 ? 160 : least, Math.floor((width - first) / Math.max(1, n))) };
}

const most = 24; // squares per cell
const some = 12; // limit above that number, which leaves space for the reason

type Style = Record<string, string>;

// placed returns the style of a cell; sizes are in pixels.
export const placed = (left: number, width: number): Style => ({ left: left + 'px', width: width + 'px' });

export function ColumnHead({ id, at, style, width, name, tally, pressed, active, press }: {
  id: string; at: number; style: Style; width: number; name: ColumnName; tally: Tally; pressed: boolean; active: boolean; press: () => void;
}) {
  const n = asked(tally), errors = tally.errors ? (width < 150 ? `, ${count(tally.errors)} !` : `, ${plural(tally.errors, 'error')}`) : '';
  const sum = ' of ' + count(n) + (count(n).length + errors.length < width / 8 - 6 ? errors : '');
  const said = `${name.title}, ${name.under}: ${rateText(tally)}. ${pressed ? 'Filters apply to this column only.' : 'Press to apply filters to this column only.'}`;
  return (
    <div role="columnheader" id={id} aria-colindex={at + 2} aria-selected={pressed} aria-label={said} title={name.whole} style={style}
      class={(pressed ? 'pressed ' : '') + (active ? 'head active' : 'head')} onClick={press}>
      <div class="name">{name.title}</div>
      <div class="under">{name.under}</div>
      <div class="sum num"><strong>{decided(tally) ? percent(tally.passed / n) : '–'}</strong><span class="muted">{sum}</span></div>
      <Bar counts={tally} />
    </div>
  );
}

// said describes a cell for screen readers. They read the preview after it.
function said(m: Model, c: number, column: number, name: string, verdicts: Uint8Array, repeats: string): string {
  const bad: string[] = [];
  let failed = 0;
  for (let a = 0; a < verdicts.length; a++) {
    if (verdicts[a] !== FAIL && verdicts[a] !== ERROR) continue;
    failed++;
    if (bad.length < 3) bad.push(m.matrix.assertions[a]!);
  }
  const status = statusNames[m.cells[c * m.columns + column]!];
  const more = failed ? ': ' + bad.join(', ') + (failed > bad.length ? ` and ${failed - bad.length} more` : '') : '';
  return plain(`${m.matrix.cases[c]}, ${name}: ${status}${repeats && `, ${repeats} repeats passed`}${more}.`);
}

// shownVerdicts returns the assertions that have a square: all of them, so that each has a
// fixed place, or only those of the case if there are many.
export function shownVerdicts(verdicts: Uint8Array): number[] {
  const out: number[] = [];
  for (let a = 0; a < verdicts.length; a++) if (verdicts.length <= most || verdicts[a]) out.push(a);
  return out;
}

export function ResultCell({ id, model: m, case: c, column, name, style, width, scratch: verdicts, preview, active, chosen }: {
  id: string; model: Model; case: number; column: number; name: string; style: Style; width: number; scratch: Uint8Array; preview: Preview | undefined; active: boolean; chosen: boolean;
}) {
  verdictsOf(m, c, column, verdicts); // all cells share this array; it is read while this cell renders
  const status = statusNames[m.cells[c * m.columns + column]!] ?? 'running';
  const repeats = m.repeats > 1 ? `${passes(m, c, column)}/${m.repeats}` : '';
  const shown = Uint8Array.from(shownVerdicts(verdicts), (a) => verdicts[a]!);
  const wide = width - (repeats ? 66 : 36), fits = Math.floor(wide / 10);
  const room = Math.max(3, Math.min(shown.length > most ? some : most, shown.length > fits ? fits - 4 : fits));
  const left = width - 44 - (repeats ? 30 : 0) - Math.min(shown.length, room) * 10 - (shown.length > room ? 40 : 0);
  const bad = status === 'fail' || status === 'error';
  return (
    <div role="gridcell" id={id} aria-colindex={column + 2} aria-selected={chosen} style={style}
      class={`cell ${status}${active ? ' active' : ''}${chosen ? ' chosen' : ''}`}>
      <span class={'num status ' + status} role="img" aria-label={said(m, c, column, name, verdicts, repeats)}>{(status === 'running' ? '…' : glyphs[status]) + (repeats && ' ' + repeats)}</span>
      {Squares({ of: shown, most: room })}
      {left > 70 && preview && <bdi class="preview">{plain((bad && preview.why) || preview.output)}</bdi>}
    </div>
  );
}

