// The matrix of a run as columns of bytes. There is no object per cell, so that 100,000
// cases can be filtered while typing. A cell is a case in a column; it has one result per
// repeat.
import { ERROR, FAIL, PASS, RUNNING, SKIP, type Matrix } from '../api';
import type { Counts } from '../parts/rate';
import { bytes, words32 } from './bytes';

export const NO_ROW = 0xffffffff;

export interface Tally extends Counts { skipped: number; running: number }

export interface AssertionRow { name: string; type: string; at: number; tally: Tally }

export interface Model {
  matrix: Matrix;
  cases: number; columns: number; repeats: number;
  results: Uint8Array;      // statuses by (case*columns + column)*repeats + repeat
  rows: Uint32Array;        // row indexes, in the same order
  cells: Uint8Array;        // worst status of each cell, by case*columns + column
  verdicts: Uint8Array[];   // by assertion: statuses in the order of results
  severity: Float64Array;   // by case: failed cells, then failed assertions, then errors
  total: Tally;             // of results
  byColumn: Tally[];        // of results
  assertions: AssertionRow[]; // worst first
  differ: Uint8Array;       // 1 if the columns of the case have different statuses
  differing: number;        // number of these cases
}

// rank orders statuses by severity.
const rank = new Uint8Array(8);
rank[SKIP] = 1; rank[PASS] = 2; rank[RUNNING] = 3; rank[ERROR] = 4; rank[FAIL] = 5;

const tally = (): Tally => ({ passed: 0, failed: 0, errors: 0, skipped: 0, running: 0 });

function fromCounts(n: Uint32Array | number[]): Tally {
  return { passed: n[PASS]!, failed: n[FAIL]!, errors: n[ERROR]!, skipped: n[SKIP]!, running: n[RUNNING]! };
}

// sized returns exactly n bytes. A truncated matrix gets results that are still to come.
function sized(data: Uint8Array, n: number): Uint8Array {
  if (data.length === n) return data;
  const out = new Uint8Array(n);
  out.set(data.subarray(0, n));
  return out;
}

export function decode(matrix: Matrix): Model {
  const cases = matrix.cases.length, columns = matrix.columns.length, repeats = Math.max(1, matrix.repeats);
  const n = cases * columns * repeats;
  const results = sized(bytes(matrix.cells), n);
  let rows = words32(matrix.index);
  if (rows.length !== n) {
    const all = new Uint32Array(n).fill(NO_ROW);
    all.set(rows.subarray(0, n));
    rows = all;
  }
  const verdicts = matrix.assertions.map((name) => sized(bytes(matrix.verdicts[name] ?? ''), n));
  const model: Model = {
    matrix, cases, columns, repeats, results, rows, verdicts,
    cells: new Uint8Array(cases * columns), severity: new Float64Array(cases), differ: new Uint8Array(cases),
    total: tally(), byColumn: [], assertions: [], differing: 0,
  };
  fold(model);
  model.assertions = countAssertions(model);
  return model;
}

// fold computes the worst status of each cell, the counts of each column, and the severity
// of cases.
function fold(m: Model): void {
  const counts = Array.from({ length: m.columns }, () => new Uint32Array(8));
  for (let c = 0; c < m.cases; c++) {
    let failed = 0, errors = 0, first = -1, differs = 0;
    for (let j = 0; j < m.columns; j++) {
      const at = (c * m.columns + j) * m.repeats;
      let worst = m.results[at]! & 7;
      for (let k = 0; k < m.repeats; k++) {
        const s = m.results[at + k]! & 7;
        counts[j]![s]!++;
        if (rank[s]! > rank[worst]!) worst = s;
      }
      m.cells[c * m.columns + j] = worst;
      if (worst === FAIL) failed++;
      else if (worst === ERROR) errors++;
      if (worst === RUNNING) continue;
      if (first >= 0 && first !== worst) differs = 1;
      first = worst;
    }
    m.differ[c] = differs;
    m.differing += differs;
    m.severity[c] = Math.min(failed, 1023) * 2 ** 17 + Math.min(errors, 127);
  }
  m.byColumn = counts.map(fromCounts);
  for (const t of m.byColumn) for (const key of Object.keys(t) as (keyof Tally)[]) m.total[key]! += t[key]!;
}

// countAssertions counts the verdicts on each assertion, and adds failed ones to the
// severity of their cases.
function countAssertions(m: Model): AssertionRow[] {
  const perCase = m.columns * m.repeats, failed = new Uint16Array(m.cases);
  const rows = m.verdicts.map((v, at): AssertionRow => {
    const n = new Uint32Array(8);
    for (let i = 0; i < v.length; i++) {
      const s = v[i]! & 7;
      n[s]!++;
      if (s === FAIL) { const c = (i / perCase) | 0; if (failed[c]! < 1023) failed[c]!++; }
    }
    n[RUNNING] = 0; // a case without the assertion is stored as 0, too
    return { name: m.matrix.assertions[at]!, type: m.matrix.types[at] ?? '', at, tally: fromCounts(n) };
  });
  for (let c = 0; c < m.cases; c++) m.severity[c]! += failed[c]! * 128;
  const share = (t: Tally) => { const n = t.passed + t.failed + t.errors; return n ? t.passed / n : 2; };
  return rows.sort((a, b) => share(a.tally) - share(b.tally) || b.tally.failed - a.tally.failed || a.at - b.at);
}

// order returns all cases, in suite order or the worst first.
export function order(m: Model, worstFirst: boolean): Uint32Array {
  const out = new Uint32Array(m.cases);
  if (!worstFirst) {
    for (let c = 0; c < m.cases; c++) out[c] = c;
    return out;
  }
  // Typed arrays of numbers sort natively. A key combines the severity, in the upper part,
  // with the case.
  const size = 2 ** 24, keys = new Float64Array(m.cases), top = 2 ** 28;
  for (let c = 0; c < m.cases; c++) keys[c] = (top - m.severity[c]!) * size + c;
  keys.sort();
  for (let i = 0; i < keys.length; i++) out[i] = keys[i]! % size;
  return out;
}

const lowered = new WeakMap<Matrix, string[]>();

// texts returns the texts to search: ids and titles in lower case.
export function texts(matrix: Matrix): string[] {
  let found = lowered.get(matrix);
  if (!found) {
    found = matrix.cases.map((id, i) => (id + '\n' + (matrix.titles[i] ?? '')).toLowerCase());
    lowered.set(matrix, found);
  }
  return found;
}

export type StatusFilter = '' | 'all' | 'fail' | 'error' | 'pass' | 'skip' | 'differ' | 'broke';

export interface Filter {
  status: StatusFilter;
  assertion: string;
  text: string;
  column: number;            // -1 means any column
  found?: Uint8Array;        // cases whose texts contain the search text, found by the source
  broke?: ReadonlySet<string>; // ids of cases
}

const codes: Record<string, number> = { fail: FAIL, error: ERROR, pass: PASS, skip: SKIP };

// wanted returns whether each status matches. An assertion without a status selects the
// cases in which it did not pass.
function wanted(f: Filter): Uint8Array | undefined {
  const yes = new Uint8Array(8), code = codes[f.status];
  if (code !== undefined) yes[code] = 1;
  else if (!f.assertion) return undefined;
  else if (f.status === 'all' || f.status === 'differ' || f.status === 'broke') yes[PASS] = yes[FAIL] = yes[ERROR] = yes[SKIP] = 1;
  else yes[FAIL] = yes[ERROR] = 1;
  return yes;
}

// filter returns the matching cases of an order. A case matches if one of its cells
// matches, in the chosen column or in any.
export function filter(m: Model, cases: Uint32Array, f: Filter): Uint32Array {
  const out = new Uint32Array(cases.length);
  const yes = wanted(f), at = f.assertion ? m.matrix.assertions.indexOf(f.assertion) : -1;
  if (f.assertion && at < 0) return out.subarray(0, 0);
  const data = at >= 0 ? m.verdicts[at]! : m.cells, per = at >= 0 ? m.repeats : 1;
  const from = f.column >= 0 ? f.column * per : 0, to = f.column >= 0 ? from + per : m.columns * per;
  const text = f.text.trim().toLowerCase(), names = text ? texts(m.matrix) : [];
  const width = m.columns * per;
  let n = 0;
  for (let i = 0; i < cases.length; i++) {
    const c = cases[i]!;
    if (yes) {
      let k = from;
      for (const base = c * width; k < to; k++) if (yes[data[base + k]! & 7]) break;
      if (k === to) continue;
    }
    if (f.status === 'differ' && !m.differ[c]) continue;
    if (f.status === 'broke' && !f.broke?.has(m.matrix.cases[c]!)) continue;
    if (text && !names[c]!.includes(text) && !f.found?.[c]) continue;
    out[n++] = c;
  }
  return out.subarray(0, n);
}

// casesOf marks the cases that the rows belong to.
export function casesOf(m: Model, rows: Uint32Array): Uint8Array {
  const marks = new Uint8Array(m.cases), per = m.columns * m.repeats;
  const wanted = new Uint8Array(rows.reduce((most, row) => Math.max(most, row), -1) + 1);
  for (const row of rows) wanted[row] = 1;
  for (let i = 0; i < m.rows.length; i++) if (wanted[m.rows[i]!]) marks[(i / per) | 0] = 1;
  return marks;
}

// worstRepeat returns the first repeat of a cell with the worst status.
export function worstRepeat(m: Model, c: number, column: number): number {
  const cell = c * m.columns + column;
  for (let k = 0; k < m.repeats; k++) if ((m.results[cell * m.repeats + k]! & 7) === m.cells[cell]) return k;
  return 0;
}

// rowOf returns the index of a result's row, or -1 if there is none yet.
export function rowOf(m: Model, c: number, column: number, repeat: number): number {
  const row = m.rows[(c * m.columns + column) * m.repeats + repeat];
  return row === undefined || row === NO_ROW ? -1 : row;
}

// worstColumn returns the column of a case to look at first: among those with the worst
// status, the one with the most failed assertions.
export function worstColumn(m: Model, c: number): number {
  let best = 0, most = -1;
  const verdicts = new Uint8Array(m.verdicts.length);
  for (let j = 0; j < m.columns; j++) {
    verdictsOf(m, c, j, verdicts);
    const bad = rank[m.cells[c * m.columns + j]!]! * 4096 + verdicts.reduce((n, v) => n + Number(v === FAIL), 0);
    if (bad > most) { most = bad; best = j; }
  }
  return best;
}

// verdictsOf writes the verdict of each assertion of a cell to out, the worst over its
// repeats.
export function verdictsOf(m: Model, c: number, column: number, out: Uint8Array): void {
  const at = (c * m.columns + column) * m.repeats;
  for (let a = 0; a < m.verdicts.length; a++) {
    let worst = 0;
    for (let k = 0; k < m.repeats; k++) {
      const s = m.verdicts[a]![at + k]! & 7;
      if (s && (!worst || rank[s]! > rank[worst]!)) worst = s;
    }
    out[a] = worst;
  }
}

// passes counts the repeats of a cell that passed.
export function passes(m: Model, c: number, column: number): number {
  const at = (c * m.columns + column) * m.repeats;
  let n = 0;
  for (let k = 0; k < m.repeats; k++) if ((m.results[at + k]! & 7) === PASS) n++;
  return n;
}

// nextFailing returns the next cell after (or before) a place in the listed cases that
// failed or has an error, as [position, column].
export function nextFailing(m: Model, list: Uint32Array, position: number, column: number, step: 1 | -1): [number, number] | undefined {
  const n = list.length * m.columns;
  for (let at = position * m.columns + column + step; at >= 0 && at < n; at += step) {
    const s = m.cells[list[(at / m.columns) | 0]! * m.columns + (at % m.columns)]!;
    if (s === FAIL || s === ERROR) return [(at / m.columns) | 0, at % m.columns];
  }
  return undefined;
}
