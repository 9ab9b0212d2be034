// What the page shows of a run, as given by its address.
import { change, usePlace } from '../url';
import type { Model, StatusFilter } from './model';
import { worstColumn, worstRepeat } from './model';

export interface State {
  status: StatusFilter; assertion: string; text: string; column: number;
  sort: '' | 'suite' | 'worst';
  list: '' | 'list' | 'matrix';
  chosen?: string;   // id of a case
  at: number;        // column of the case, -1 if the address has none
  repeat: number;
  closed: boolean;   // no case is to be open
}

const number = (text: string | null): number => (text !== null && /^\d{1,6}$/.test(text) ? Number(text) : -1);
const one = <T extends string>(text: string | null, of: readonly T[]): T | '' => of.find((v) => v === text) ?? '';

export function useRunState(): State {
  const { query } = usePlace();
  const chosen = query.get('case');
  return {
    status: one(query.get('status'), ['all', 'fail', 'error', 'pass', 'skip', 'differ', 'broke']),
    assertion: query.get('a') ?? '', text: query.get('q') ?? '', column: number(query.get('col')),
    sort: one(query.get('sort'), ['suite', 'worst']), list: one(query.get('view'), ['list', 'matrix']),
    ...(chosen === null ? {} : { chosen }), at: number(query.get('p')), repeat: number(query.get('r')), closed: query.get('open') === 'no',
  };
}

export interface Place { case: number; column: number; repeat: number }

// placeOf returns the place in the address, if the run has it.
export function placeOf(m: Model, s: State): Place | undefined {
  if (s.chosen === undefined) return undefined;
  const c = m.matrix.cases.indexOf(s.chosen);
  if (c < 0 || m.columns === 0) return undefined;
  const column = s.at >= 0 && s.at < m.columns ? s.at : worstColumn(m, c);
  const repeat = s.repeat >= 0 && s.repeat < m.repeats ? s.repeat : worstRepeat(m, c, column);
  return { case: c, column, repeat };
}

// open shows a case; with replace, it replaces the current entry of the history.
export function open(m: Model, c: number, column: number, replace = false, repeat = -1): void {
  change({ case: m.matrix.cases[c]!, p: String(column), r: repeat >= 0 ? String(repeat) : '', open: '' }, replace);
}

export function close(): void {
  change({ case: '', p: '', r: '', open: 'no' });
}

export function clearFilters(): void {
  change({ status: '', a: '', q: '', col: '' });
}
