import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const model = await load('src/run/model.ts');
const codes = { '.': 0, p: 1, f: 2, e: 3, s: 4 };
const base64 = (text) => Buffer.from([...text.replaceAll(' ', '')].map((c) => codes[c])).toString('base64');
const indices = (list) => Buffer.from(Uint32Array.from(list).buffer).toString('base64');

// matrix makes a matrix from statuses as letters, cases separated by blanks.
function matrix({ cells, verdicts = {}, columns = 2, repeats = 1, titles = [], status = 'done', cut }) {
  const n = cells.replaceAll(' ', '').length;
  return {
    columns: Array.from({ length: columns }, (_, j) => ({ prompt: 'p' + j, provider: 'echo' })), assertions: Object.keys(verdicts), types: [], more_assertions: 0,
    cases: cells.split(' ').map((_, i) => 'case-' + i), titles, repeats, cells: base64(cut ? cells.replaceAll(' ', '').slice(0, cut) : cells), index: indices(Array.from({ length: n }, (_, i) => i)),
    verdicts: Object.fromEntries(Object.entries(verdicts).map(([k, v]) => [k, base64(v)])), finished: n, rows: n, status,
  };
}

const any = { status: '', assertion: '', text: '', column: -1 };
const ids = (m, f) => [...model.filter(m, model.order(m, false), { ...any, ...f })];

const run = () => model.decode(matrix({
  cells: 'pp pf ee ss fp', titles: ['Refund', 'Invoice', 'Delay', 'Late', 'Refund again'],
  verdicts: { tone: 'pp pf .. ss fp', refund: 'pp pp ee pp fp' },
}));

test('counts have every result, errors and skipped ones too', () => {
  const m = run();
  assert.deepEqual(m.total, { passed: 4, failed: 2, errors: 2, skipped: 2, running: 0 });
  assert.deepEqual(m.byColumn[1], { passed: 2, failed: 1, errors: 1, skipped: 1, running: 0 });
  assert.equal(m.differing, 2);
});

test('assertions are listed the worst first, and count only cases that have them', () => {
  const m = run();
  assert.deepEqual(m.assertions.map((a) => [a.name, a.tally.passed, a.tally.failed, a.tally.errors, a.tally.skipped]), [['tone', 4, 2, 0, 2], ['refund', 7, 1, 2, 0]]);
});

test('filters', () => {
  const m = run();
  for (const [what, f, want] of [
    ['nothing', {}, [0, 1, 2, 3, 4]], ['failed', { status: 'fail' }, [1, 4]], ['errors', { status: 'error' }, [2]], ['passed', { status: 'pass' }, [0, 1, 4]],
    ['skipped', { status: 'skip' }, [3]], ['differ', { status: 'differ' }, [1, 4]], ['an assertion that did not pass', { assertion: 'refund' }, [2, 4]],
    ['an assertion that passed', { assertion: 'refund', status: 'pass' }, [0, 1, 3, 4]], ['all that have the assertion', { assertion: 'tone', status: 'all' }, [0, 1, 3, 4]],
    ['failed in a column', { status: 'fail', column: 1 }, [1]], ['an assertion in a column', { assertion: 'tone', column: 0 }, [4]],
    ['text of titles, in any case', { text: ' REFUND' }, [0, 4]], ['text of ids', { text: 'case-3' }, [3]], ['text that the source found', { text: 'monday', found: Uint8Array.of(0, 0, 1, 0, 0) }, [2]],
    ['all filters', { text: 'refund', status: 'fail', assertion: 'tone' }, [4]], ['an assertion that is not there', { assertion: 'other' }, []], ['broke', { status: 'broke', broke: new Set(['case-4']) }, [4]],
  ]) assert.deepEqual(ids(m, f), want, what);
});

test('the worst case is first, and equal ones keep the order of the suite', () => {
  const m = model.decode(matrix({ cells: 'pp fp ff pe pp fp', verdicts: { a: 'pp fp ff pe pp fp', b: 'pp pp pp pp pp fp' } }));
  assert.deepEqual([...model.order(m, true)], [2, 5, 1, 3, 0, 4]);
  assert.equal(model.worstColumn(m, 3), 1);
});

test('a cell with repeats has the worst status, and the repeat to look at is the first with it', () => {
  const m = model.decode(matrix({ cells: 'ppp pep pfe ...', columns: 1, repeats: 3, verdicts: { a: 'ppp p.p pf. ...' } }));
  assert.deepEqual([...m.cells], [1, 3, 2, 0]);
  assert.equal(model.worstRepeat(m, 2, 0), 1);
  assert.equal(model.passes(m, 1, 0), 2);
  assert.deepEqual(ids(m, { assertion: 'a' }), [2]);
});

test('the next failing cell, in both directions, in the listed order', () => {
  const m = run(), list = model.order(m, false);
  assert.deepEqual(model.nextFailing(m, list, 0, 0, 1), [1, 1]);
  assert.deepEqual(model.nextFailing(m, list, 1, 1, 1), [2, 0]);
  assert.deepEqual(model.nextFailing(m, list, 4, 0, -1), [2, 1]);
  assert.equal(model.nextFailing(m, list, 4, 0, 1), undefined);
});

test('a matrix that is cut off has results still to come', () => {
  const m = model.decode(matrix({ cells: 'pf pf', cut: 3 }));
  assert.deepEqual([...m.cells], [1, 2, 1, 0]);
  assert.equal(m.total.running, 1);
});

test('no cases, no columns', () => {
  const m = model.decode({ ...matrix({ cells: 'p', columns: 1 }), cases: [], cells: '', index: '' });
  assert.deepEqual([m.total.passed, model.order(m, true).length, ids(m, { status: 'fail' }).length], [0, 0, 0]);
});

// Work is counted, not timed: machines differ.
test('a filter looks at each case once, and at no more verdicts than it has', () => {
  const n = 4000, count = (list, got) => new Proxy(list, { get: (of, key) => { if (typeof key === 'string' && /^\d+$/.test(key)) got.n++; const v = of[key]; return typeof v === 'function' ? v.bind(of) : v; } });
  const letters = Array.from({ length: n }, (_, i) => (i % 10 ? 'pppp' : 'pfpp')).join(' ');
  const m = model.decode(matrix({ cells: letters, columns: 4, verdicts: { a: letters, b: letters } })), all = model.order(m, true);
  const cases = { n: 0 }, verdicts = { n: 0 }, names = { n: 0 };
  m.verdicts = m.verdicts.map((v) => count(v, verdicts));
  m.matrix.cases = count(m.matrix.cases, names);
  const found = model.filter(m, count(all, cases), { ...any, assertion: 'a', text: 'case' });
  assert.equal(found.length, n / 10);
  assert.equal(cases.n, n);
  assert.ok(verdicts.n <= 4 * n, String(verdicts.n));
  const before = names.n;
  model.filter(m, all, { ...any, text: 'case-3' });
  assert.equal(names.n, before, 'names are put into lower case once');
});
