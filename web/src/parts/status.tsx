import { ERROR, FAIL, PASS, RUNNING, SKIP, type Status } from '../api';

export const glyphs: Record<Status, string> = { pass: '✓', fail: '✕', error: '!', skip: '–' };
export const words: Record<Status, string> = { pass: 'Pass', fail: 'Fail', error: 'Error', skip: 'Skipped' };
export const names: (Status | 'running')[] = [];
names[RUNNING] = 'running'; names[PASS] = 'pass'; names[FAIL] = 'fail'; names[ERROR] = 'error'; names[SKIP] = 'skip';

// StatusMark is a status sign with its word, or with the name of its subject. In the latter
// case, screen readers read the word.
export function StatusMark({ status, word, of }: { status: Status; word?: string; of?: string }) {
  return <span class={'status ' + status}><span aria-hidden="true">{glyphs[status]} </span>{of !== undefined && <span class="hidden">{words[status]}: </span>}{of ?? word ?? words[status]}</span>;
}
