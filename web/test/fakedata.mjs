// The fixtures of the fake server: a support bot over 26 runs, another suite, and runs
// that are going on, failed and were cancelled. Numbers come from a fixed seed.
const assertions = ['mentions-refund', 'tone', 'no-escalation', 'short', 'cites-policy'];
const types = ['contains', 'llm-rubric', 'not-contains', 'javascript', 'llm-rubric'];
const minutes = (n) => new Date(Date.UTC(2026, 10, 20, 13, 54) - n * 60_000).toISOString();

function random(seed) {
  let s = seed;
  return () => { s = (s * 1664525 + 1013904223) >>> 0; return s / 2 ** 32; };
}

const runs = [];
function add(suite, i, at, passed, failed, errors, more = {}) {
  const rows = passed + failed + errors;
  runs.push({
    id: '202611' + String(20 - Math.floor(at / 1440)).padStart(2, '0') + '-' + String(1300 + i) + '-' + (9000 + i * 37).toString(36), suite, version: '1', status: 'done',
    created_at: minutes(at), started_at: minutes(at), ended_at: minutes(at - 3.2), agent_id: suite, test_suite: suite, cost: rows * 0.0041,
    progress: { rows, finished: rows, passed, failed, errors, skipped: 0 }, revision: { commit: (0x3fa9c0de1234 + i * 7919).toString(16).padEnd(40, '0'), branch: i % 3 ? 'main' : 'shorter-answers', dirty: i % 7 === 0 }, ...more,
  });
}
const next = random(7);
add('support-bot', 0, 2, 118, 21, 2, { status: 'running', ended_at: undefined, progress: { rows: 300, finished: 141, passed: 118, failed: 21, errors: 2, skipped: 0 } });
add('support-bot', 1, 95, 222, 69, 9, { judges: [{ judge: 'openai:gpt-5-mini', verdicts: 600, cached: 210, errors: 9, total_tokens: 412000, cost: 0.41 }] });
for (let i = 2; i < 26; i++) {
  const rate = 0.8 + 0.12 * next(), errors = Math.floor(3 * next());
  const passed = Math.round(300 * rate);
  add('support-bot', i, 95 + i * 470, passed, 300 - passed - errors, errors);
}
add('invoices', 30, 300, 24, 0, 0);
add('invoices', 31, 2000, 22, 2, 0);
add('invoices', 32, 2900, 3, 1, 8, { status: 'failed', error: 'The provider replied with status 401: the key is not valid.', progress: { rows: 24, finished: 12, passed: 3, failed: 1, errors: 8, skipped: 0 } });
add('invoices', 33, 3000, 5, 0, 0, { status: 'cancelled', progress: { rows: 24, finished: 5, passed: 5, failed: 0, errors: 0, skipped: 0 } });
runs.sort((a, b) => b.created_at.localeCompare(a.created_at));

export const session = { scopes: ['read', 'evaluate', 'edit'], project: 'default', mode: 'serve' };
export const run = (id) => runs.find((r) => r.id === id);
export function finish() {
  const r = runs.find((x) => x.status === 'running');
  if (r) Object.assign(r, { status: 'done', ended_at: minutes(0), progress: { rows: 300, finished: 300, passed: 251, failed: 45, errors: 4, skipped: 0 } });
}

function matrix(r) {
  const cases = 100, columns = 3, n = cases * columns, next = random(11);
  const cells = Buffer.alloc(n), index = Buffer.alloc(4 * n), verdicts = assertions.map(() => Buffer.alloc(n));
  for (let i = 0; i < n; i++) {
    if (i >= r.progress.finished) { index.writeUInt32LE(0xffffffff, 4 * i); continue; }
    index.writeUInt32LE(i, 4 * i);
    cells[i] = 1;
    verdicts.forEach((v, a) => { const x = next(); v[i] = x < [0.03, 0.2, 0.02, 0.01, 0.06][a] ? 2 : a === 1 && x > 0.98 ? 3 : 1; cells[i] = v[i] === 2 ? 2 : cells[i] === 1 ? v[i] : cells[i]; });
  }
  return {
    columns: ['v13', 'v14', 'v14 short'].map((prompt) => ({ prompt, provider: 'openai:gpt-5-mini' })), assertions, types, more_assertions: 0,
    cases: Array.from({ length: cases }, (_, i) => 'refund-' + (i + 1)), titles: Array.from({ length: cases }, (_, i) => ['angry customer', 'short invoice', 'late parcel'][i % 3] + ', order ' + (4000 + i)),
    repeats: 1, cells: cells.toString('base64'), index: index.toString('base64'), verdicts: Object.fromEntries(assertions.map((a, i) => [a, verdicts[i].toString('base64')])),
    finished: r.progress.finished, rows: r.progress.rows, status: r.status,
  };
}

function detail(r, index) {
  const old = r.id !== runs[1].id, fails = !old || index % 2;
  const output = old ? `I am sorry about the wait for order ${4000 + index}. Your refund was sent five days ago, and your bank may need six days more.\n\nIf it has not arrived by Friday, please write to us again.`
    : `I already told you about order ${4000 + index}. Your refund was sent five days ago, and your bank may need six days more.\n\nIf it has not arrived by Friday, write again.`;
  return {
    index, case: 'refund-' + (index + 1), title: '', column: index % 3, repeat: 0, status: fails ? 'fail' : 'pass', score: fails ? '0.61 of 0.8 needed' : '0.94 of 0.8 needed', prompt: 'You are a support agent. Answer {{message}}.',
    vars: [['order', String(4000 + index)], ['message', 'Where is my money? I have asked twice.']], output, latency_ms: 812, cost: 0.0041, tokens: 511,
    assertions: assertions.map((name, i) => ({ name, type: types[i], status: name === 'tone' && fails ? 'fail' : 'pass', reason: name === 'tone' ? (fails ? 'It addresses the customer curtly in the first sentence.' : 'It apologises and stays polite.') : 'The output holds the text.', score: name === 'tone' ? (fails ? '0.32' : '0.91') : '1', threshold: '0.7' })),
  };
}

const figure = (value, n, half) => ({ value, low: value - half, high: Math.min(1, value + half), n });
const estimate = (value, half) => ({ value, low: value - half, high: value + half });
const effect = (base, head, n, half) => ({ base: figure(base, n, half * 0.8), head: figure(head, n, half * 0.8), difference: estimate(head - base, half) });

function compare(base, head) {
  const change = (n, broke, fixed) => ({ case: 'refund-' + (n + 1), column: n % 3, change: broke.length ? -0.33 : fixed.length ? 0.33 : 0, broke, fixed, base_rows: [n], head_rows: [n] });
  const brokeList = Array.from({ length: 41 }, (_, i) => change(2 * i, i % 9 ? ['tone'] : ['tone', 'cites-policy'], []));
  const fixedList = Array.from({ length: 9 }, (_, i) => change(2 * i + 1, [], [i % 2 ? 'mentions-refund' : 'tone']));
  const flaky = Array.from({ length: 3 }, (_, i) => change(90 + i, [], []));
  const still = Array.from({ length: 10_000 }, (_, i) => change(100 + i, [], []));
  const rows = [[0.93, 0.94, 2, 5], [0.86, 0.74, 38, 2], [0.92, 0.92, 0, 0], [1, 1, 0, 0], [0.9, 0.95, 1, 14]];
  const names = (list) => list.map((c) => c.case);
  const side = (run) => ({ run, suite: 'sha256:9f', prompts: 'sha256:1c', judge: 'openai:gpt-5-mini', cases: 'sha256:77', repeats: 1 });
  return {
    suite: { ...effect(0.84, 0.76, 300, 0.05), corrected: null },
    assertions: assertions.map((assertion, i) => ({ ...effect(rows[i][0], rows[i][1], 300, 0.03), assertion, pairs: 300, broke: rows[i][2], fixed: rows[i][3], p: i === 1 ? 0.0001 : 0.4, p_adjusted: i === 1 ? 0.0004 : i === 4 ? 0.012 : 1, judged: types[i] === 'llm-rubric', only_base: 0, only_head: 0, left_out: i === 1 ? 6 : 0, corrected: null })),
    cases: { broke: names(brokeList), fixed: names(fixedList), still_failing: names(still), flaky: names(flaky), same: 195, only_base: ['refund-old-1'], only_head: ['refund-new-1', 'refund-new-2'], undecided: ['refund-77'] },
    warnings: ['The judges differ: openai:gpt-5-mini in base, openai:gpt-5 in head.'], base: side(base), head: side(head), pairs: 300, left_out: 6,
    columns: ['v13', 'v14', 'v14 short'].map((prompt) => ({ base: { prompt, provider: 'openai:gpt-5-mini' }, head: { prompt, provider: 'openai:gpt-5-mini' } })),
    cost: { base: figure(0.0041, 300, 0.0002), head: figure(0.0039, 300, 0.0002), difference: estimate(-0.0002, 0.0003) }, tokens: null, latency_ms: { base: figure(812, 300, 20), head: figure(701, 300, 20), difference: estimate(-111, 30) },
    changes: [...brokeList, ...fixedList, ...flaky, ...still],
    decision: { decision: 'fail', reasons: [{ rule: 'suite', met: false, text: 'The pass rate fell by 8 points (−13 to −3); at most 2 are allowed.' }, { rule: 'assertion-min', assertion: 'tone', met: false, text: '"tone" passes 74 %, and needs 80 %.' }, { rule: 'cost', met: true, text: 'A case costs $0.0039; at most $0.005 is allowed.' }], needed: null },
  };
}

const history = (a, i) => ({
  suite: 'support-bot', assertion: a, type: types[i], judged: types[i] === 'llm-rubric', judges: types[i] === 'llm-rubric' ? ['openai:gpt-5-mini'] : [],
  history: runs.filter((r) => r.suite === 'support-bot' && r.status === 'done').slice(0, 20).reverse().map((r, k) => {
    const x = random(k * 31 + i * 7 + 3)(), failed = k === 19 && i === 1 ? 69 : Math.round([12, 30, 9, 1, 18][i] * (0.5 + x)), errors = i === 1 ? Math.round(4 * x) : 0;
    return { run: r.id, started_at: r.started_at, passed: 300 - failed - errors, failed, errors, skipped: 0 };
  }),
});

const judges = () => [
  { judge: 'openai:gpt-5-mini', verdicts: 14820, errors: 92, cached: 5110, cost: 9.83, runs: 25, last_run: runs[1].id, alignment: [
    { criterion: 'tone', labels: 100, true_pass: 58, false_pass: 5, true_fail: 33, false_fail: 4, undecided: 0, agreement: estimate(0.91, 0.055), kappa: { value: 0.81, low: 0.69, high: 0.92 }, measured_at: minutes(4000) },
    { criterion: 'cites-policy', labels: 50, true_pass: 30, false_pass: 7, true_fail: 6, false_fail: 5, undecided: 2, agreement: estimate(0.75, 0.12), kappa: { value: 0.34, low: 0.05, high: 0.62 } }] },
  { judge: 'openai:gpt-5', verdicts: 600, errors: 0, cached: 0, cost: 2.1, runs: 1, last_run: runs[2].id, alignment: [] },
];

const text14 = 'You are a support agent of a web shop.\nAnswer in at most 80 words.\nSay where the refund of order {{order}} is.\nStay polite, even if the customer is not.\nNever promise a date.\nCite the policy by its number.';
const prompts = () => {
  const sentences = [['Answer in at most 80 words.', ['short']], ['Say where the refund of order {{order}} is.', ['mentions-refund']], ['Stay polite, even if the customer is not.', ['tone']], ['Never promise a date.', []], ['Cite the policy by its number.', ['cites-policy']]];
  const version = (hash, text, k, passed) => ({ hash, text, first_run: runs[k + 3].id, last_run: runs[k].id, first_seen: runs[k + 3].started_at, last_seen: runs[k].started_at, runs: 4, passed, failed: 1150 - passed, errors: 12 });
  return [
    { name: 'v14', suite: 'support-bot', versions: [version('4c1a99e07755aa10', text14, 1, 890), version('b7e2f0aa12005f31', text14.replace('80 words', '150 words').replace('\nNever promise a date.', ''), 6, 1010), version('09fe1c33bb2290aa', text14.split('\n').slice(0, 3).join('\n'), 12, 980)],
      coverage: sentences.map(([s, list]) => ({ text: s, start: text14.indexOf(s), end: text14.indexOf(s) + s.length, assertions: list })) },
    { name: 'extract the sum of an invoice', suite: 'invoices', versions: [version('77aa01bb99cc0011', 'Reply with the sum of {{invoice}} and nothing else.', 3, 24)], coverage: [] },
  ];
};

const settings = {
  version: 'v0.9.0', mode: 'serve', read_only: false, open: false,
  providers: [{ id: 'openai', key: 'present' }, { id: 'anthropic', key: 'absent' }, { id: 'ollama', key: 'not needed' }],
  keys: [{ id: 'k7f3', name: 'ci', scopes: ['read', 'evaluate', 'edit'], last_used: minutes(30) }, { id: 'k81a', name: 'product team', scopes: ['read'] }],
  limits: { request_bytes: 8388608, run_rows: 100000, runs_at_a_time: 4, session: '12 hours' },
};

// datasets: one with three versions, and an empty one.
const questions = ['Where is the refund of order 4711?', 'May I return a lamp after 40 days?', 'The sofa came in the wrong colour.', 'Who pays for the parcel back?'];
const caseOf = (k, more = '') => ({ id: 'case-' + k, description: 'question ' + k, vars: { question: questions[k % 4] + more, order: String(4700 + k) }, assert: [{ type: 'icontains', value: '30 days' }, { type: 'judge', id: 'polite', instruction: 'Stay polite.', criteria: ['It is polite'] }].slice(0, 1 + (k % 2)) });
const contents = [24, 60, 61].map((n, i) => Array.from({ length: n }, (_, k) => caseOf(k, i && k === 3 ? ' And who pays?' : '')));
const datasetVersions = contents.map((list, i) => ({ name: 'returns', version: String(i + 1).repeat(64), number: i + 1, current: i === 2, size: JSON.stringify(list).length, created_at: minutes(9000 - 3000 * i), created_by: 'k7f3', cases: list.length }));
function dataset(path, q) {
  const versions = [...datasetVersions].reverse();
  if (path === '/v1/datasets') return { items: [versions[0], { name: 'edge-cases', version: 'e'.repeat(64), number: 1, current: true, size: 0, created_at: minutes(20), created_by: 'k7f3', cases: 0 }] };
  if (path === '/v1/datasets/returns/versions') return { items: versions };
  const at = (text) => datasetVersions.find((v) => String(v.number) === text || v.version === text);
  if (path === '/v1/datasets/returns') {
    const v = at(q.get('version') ?? '3'), from = Number(q.get('after') ?? 0), list = v && contents[v.number - 1];
    return v && { ...v, items: list.slice(from, from + 50), ...(from + 50 < list.length ? { next: String(from + 50) } : {}) };
  }
  if (path === '/v1/datasets/returns/diff') {
    const from = at(q.get('from')), to = at(q.get('to'));
    if (!from || !to) return undefined;
    const [a, b] = [contents[from.number - 1], contents[to.number - 1]], text = (c) => JSON.stringify(c);
    const added = b.slice(a.length), removed = a.slice(b.length), changed = a.flatMap((c, k) => (b[k] && text(b[k]) !== text(c) ? [{ case: c.id, before: c, after: b[k] }] : []));
    return { from, to, added, removed, changed, counts: { added: added.length, removed: removed.length, changed: changed.length, same: Math.min(a.length, b.length) - changed.length } };
  }
  return undefined;
}

// answer returns the JSON of an address, undefined if there is none.
export function answer(url, empty) {
  const q = url.searchParams, path = url.pathname;
  if (path === '/v1/runs') {
    const list = empty ? [] : runs.filter((r) => (!q.get('suite') || r.suite === q.get('suite')) && (!q.get('until') || r.created_at < q.get('until')));
    const from = Number(q.get('after') ?? 0), to = from + Number(q.get('limit') ?? 50);
    return { items: list.slice(from, to), ...(to < list.length ? { next: String(to) } : {}) };
  }
  if (path === '/v1/compare') return compare(q.get('base'), q.get('head'));
  if (path === '/v1/assertions') return { items: empty ? [] : assertions.map(history).filter((h) => !q.get('suite') || h.suite === q.get('suite')) };
  if (path === '/v1/judges') return { items: empty ? [] : judges() };
  if (path === '/v1/prompts') return { items: empty ? [] : prompts() };
  if (path.startsWith('/v1/datasets')) return empty ? (path === '/v1/datasets' ? { items: [] } : undefined) : dataset(path, q);
  if (path === '/v1/settings') return settings;
  if (path === '/v1/session') return session;
  const part = /^\/v1\/runs\/([^/]+)(?:\/(.*))?$/.exec(path), r = part && run(decodeURIComponent(part[1]));
  if (!r || empty) return undefined;
  if (!part[2]) return r;
  if (part[2] === 'matrix') return matrix(r);
  if (part[2] === 'search') return { rows: '', searched: r.progress.finished, more: false };
  if (part[2] === 'previews') return q.get('index').split(',').map((i) => { const d = detail(r, Number(i)); return { index: d.index, input: d.vars[1][1], output: d.output, why: d.status === 'pass' ? '' : d.assertions[1].reason, assertion: d.status === 'pass' ? '' : 'tone', score: d.score }; });
  const row = /^results\/(\d+)\/detail$/.exec(part[2]);
  return row ? detail(r, Number(row[1])) : undefined;
}
