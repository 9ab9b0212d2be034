// Makes kept runs for the tests: the files that `proviso eval` writes, without a model.
// The texts come from a counter, so that the same call gives the same bytes.
//
//   node fixtures.mjs FOLDER NAME…   writes runs by the names at the end of this file
import { closeSync, mkdirSync, openSync, utimesSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { corpus } from './hostile.mjs';

const usage = { total: 0, prompt: 0, completion: 0, cached: 0, numRequests: 0 };
// caseId is the id of a case of most fixtures.
export const caseId = (i) => hex(i + 7);
const hex = (n) => (n * 2654435761 >>> 0).toString(16).padStart(12, '0');

// The file of a run, which grows: header, rows, totals.
export class RunFile {
  constructor(folder, suite) {
    this.suite = suite;
    this.path = join(folder, suite.id, 'run.jsonl');
    mkdirSync(join(folder, suite.id), { recursive: true });
    this.file = openSync(this.path, 'w', 0o600);
    this.lines = [];
    this.size = 0;
    this.count = { pass: 0, fail: 0, error: 0, skip: 0 };
    this.line(header(suite));
  }

  line(value) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    this.lines.push(text, '\n');
    this.size += text.length;
    if (this.size > 1 << 22) this.flush();
  }

  flush() {
    writeSync(this.file, this.lines.join(''));
    this.lines = [];
    this.size = 0;
  }

  row(index) {
    const made = row(this.suite, index);
    this.count[made.verdict]++;
    this.line(made);
    return made;
  }

  // end writes the totals; a run without them has not finished.
  end(finished = true) {
    const { pass, fail, error, skip } = this.count;
    if (finished) this.line({ trailer: { passed: pass, failed: fail, errors: error, skipped: skip, cost: 0.0125, elapsedMs: 4321 } });
    this.flush();
    closeSync(this.file);
    const started = new Date(startOf(this.suite.id)); // lists show the newest folder first
    utimesSync(dirname(this.path), started, started);
    return { id: this.suite.id, path: this.path, rows: rowsOf(this.suite), count: this.count };
  }
}

const rowsOf = (s) => s.cases * s.columns.length * (s.repeats ?? 1);

// write writes a whole run. A suite has: id, name, columns [{prompt, provider}], asserts,
// cases (how many), repeats, and functions of (case, column, repeat): output, verdicts,
// and title, vars of a case. All but the first five are optional.
export function write(folder, suite, { rows = rowsOf(suite), finished = true, tail = '' } = {}) {
  const file = new RunFile(folder, suite);
  for (let i = 0; i < rows; i++) file.row(i);
  if (tail) file.line(tail);
  return file.end(finished);
}

// startOf is the time in the id of a run.
function startOf(id) {
  const [day, time] = id.split('-');
  return `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T${time.slice(0, 2)}:${time.slice(2, 4)}:${time.slice(4)}Z`;
}

function header(s) {
  return {
    proviso: 'run', format: s.format ?? 1, id: s.id, version: 'devel', suite: s.name, hash: s.hash ?? hex(1).repeat(5).slice(0, 64), started: startOf(s.id),
    meta: {
      columns: s.columns.map((c) => ({ promptId: c.prompt, promptLabel: c.prompt, promptRaw: c.text ?? `${c.prompt} {{question}}`, providerId: c.provider, providerLabel: c.label ?? '' })),
      rows: rowsOf(s),
      config: {
        description: s.name, prompts: [...new Set(s.columns.map((c) => c.prompt))].map((p) => ({ id: p, label: p, raw: s.columns.find((c) => c.prompt === p).text ?? `${p} {{question}}` })),
        providers: [...new Set(s.columns.map((c) => c.provider))], defaultTest: { assert: s.asserts },
      },
      revision: s.revision ?? { commit: '3fa9c1d200000000000000000000000000000000', branch: s.branch ?? 'main', dirty: false },
      hashes: { prompts: hex(2), suite: hex(3), judge: hex(4), cases: hex(5) },
    },
  };
}

// order of rows: case, column, repeat.
function row(s, index) {
  const repeats = s.repeats ?? 1, k = index % repeats, j = Math.floor(index / repeats) % s.columns.length, i = Math.floor(index / repeats / s.columns.length);
  const column = s.columns[j], vars = s.vars?.(i) ?? { question: `question ${i}` }, title = s.title?.(i);
  const output = s.output?.(i, j, k) ?? `answer ${i} of ${column.provider}`;
  const failed = typeof output === 'object' && output.error;
  const components = failed ? [] : s.verdicts(i, j, k, output);
  const verdict = failed ? 'error' : worst(components);
  const score = components.length ? components.filter((c) => c.status === 'pass').length / Math.max(1, components.filter((c) => c.status !== 'skip').length) : 0;
  const first = components.find((c) => c.status === verdict && verdict !== 'pass' && verdict !== 'skip');
  const succeeded = verdict === 'pass' || verdict === 'skip';
  const reason = failed || (first?.reason ?? '');
  return {
    index, id: `${s.id}/${index}`, caseId: (s.caseId ?? caseId)(i), testIdx: i, promptIdx: j, promptId: column.prompt, provider: { id: column.provider, label: column.label ?? '' },
    prompt: { raw: s.prompt?.(i, j) ?? `${column.prompt} ${vars.question}`, label: column.prompt }, vars,
    testCase: { ...(title ? { description: title } : {}), vars, ...(s.metadata ? { metadata: s.metadata(i) } : {}) },
    response: failed ? { error: failed, tokenUsage: usage } : { output, tokenUsage: { ...usage, total: 42, prompt: 30, completion: 12, numRequests: 1 }, cost: 0.0001, latencyMs: 120 + i % 50, ...(s.spans ? { traceId: hex(index).padEnd(32, '0'), spans: s.spans(i, j) } : {}) },
    success: succeeded, verdict, failureReason: verdict === 'fail' ? 1 : verdict === 'error' ? 2 : 0, score: verdict === 'error' ? 0 : score, namedScores: {},
    ...(succeeded ? {} : { error: reason }),
    gradingResult: failed ? null : { pass: succeeded, score: verdict === 'error' ? 0 : score, reason: succeeded ? 'All assertions passed' : reason, namedScores: {}, tokensUsed: usage, componentResults: components },
    latencyMs: 120 + i % 50, cost: 0.0001, metadata: s.metadata?.(i) ?? {},
    ...(repeats > 1 ? { repeat: { index: k, of: repeats, pass: repeats } } : {}),
  };
}

// worst: an error makes a row undecided, unless something failed for certain.
function worst(components) {
  const has = (status) => components.some((c) => c.status === status);
  if (has('error')) return 'error';
  if (has('fail')) return 'fail';
  return has('pass') || components.length === 0 ? 'pass' : 'skip';
}

// verdict makes one component of a row.
export function verdict(assertion, status, reason, more = {}) {
  const pass = status === 'pass' || status === 'skip';
  return { pass, score: status === 'pass' || status === 'skip' ? 1 : 0, reason: reason ?? (status === 'skip' ? 'did not apply' : 'Assertion passed'), status, assertion, ...more };
}

// quoted makes evidence: where the quote stands in the output.
export const quoted = (output, quote, note) => ({ quote, start: output.indexOf(quote), ...(note ? { note } : {}) });

// judged makes a component that a model decided, criterion by criterion.
export function judged(assertion, output, criteria, judge = 'openai:chat:gpt-5#25ffeb5e95c9') {
  const made = criteria.map(([text, status, why, quote]) => ({
    criterion: text, pass: status === 'pass', reasoning: why, status, ...(quote ? { evidence: [quoted(output, quote)] } : {}),
  }));
  const bad = made.find((c) => c.status === 'error') ?? made.find((c) => c.status === 'fail');
  const said = made.filter((c) => !bad || c.status === bad.status).map((c) => c.reasoning).join('; ');
  const evidence = made.flatMap((c) => c.evidence ?? []);
  return verdict(assertion, bad?.status ?? 'pass', said, {
    tokensUsed: { ...usage, total: 400, prompt: 360, completion: 40, numRequests: 1 }, cost: 0.0004, judge, ...(evidence.length ? { evidence } : {}), criteria: made,
  });
}

const refund = { type: 'icontains', metric: 'mentions_refund', value: 'refund' };
const tone = { type: 'judge', id: 'tone', instruction: 'Keep a polite tone.', criteria: ['The output thanks the customer or says sorry.', 'The output blames nobody.'] };
const short = { type: 'word-count', metric: 'short', value: { max: 60 } };
const ticket = { type: 'regex', metric: 'ticket', value: '\\[T-[0-9]+\\]' };
const questions = ['Where is my order?', 'I want my money back!', 'The frame is bent.', 'Passt der Gepäckträger?', 'How do I fix a flat tyre?', 'You are useless.'];
const polite = (i) => `I am sorry for the trouble. We refund the whole amount within five days. [T-${1000 + i}]`;
const curt = (i) => `I already told you that. A refund takes as long as it takes. [T-${1000 + i}]`;

// support is the run that most tests look at: every status, criteria with evidence, two columns.
export const support = (more = {}) => ({
  id: '20261120-135400-k3f9', name: 'support-bot', hash: hex(9).repeat(5), asserts: [refund, tone, short, ticket], cases: 24,
  columns: [{ prompt: 'v13', provider: 'openai:chat:gpt-5', text: 'You answer customers. Be kind.\n\n{{question}}' }, { prompt: 'v14', provider: 'openai:chat:gpt-5', text: 'You answer customers. Be brief.\n\n{{question}}' }],
  title: (i) => `${questions[i % questions.length].replace(/[?!.]$/, '').toLowerCase()}, customer ${i}`,
  vars: (i) => ({ question: questions[i % questions.length], ticket: `T-${1000 + i}` }),
  metadata: (i) => ({ language: i % 6 === 3 ? 'de' : 'en' }),
  output: (i, j) => (i === 11 && j === 1 ? { error: 'openai:chat:gpt-5: HTTP 503: the model is overloaded' } : j === 1 && i % 4 === 1 ? curt(i) : polite(i)),
  verdicts(i, j, k, output) {
    if (i === 23) return this.asserts.map((a) => verdict(a, 'skip', 'when: the language is not English'));
    const rude = output.startsWith('I already');
    const asked = i === 6 && j === 0
      ? judged(tone, output, [[tone.criteria[0], 'error', 'the judge gave no answer within 30 s'], [tone.criteria[1], 'pass', 'Nobody is blamed.']])
      : judged(tone, output, rude
        ? [[tone.criteria[0], 'fail', 'The output neither thanks nor says sorry.'], [tone.criteria[1], 'fail', 'It addresses the customer curtly and blames them.', 'I already told you that.']]
        : [[tone.criteria[0], 'pass', 'It says sorry.', 'I am sorry'], [tone.criteria[1], 'pass', 'Nobody is blamed.']]);
    return [verdict(refund, 'pass'), asked, verdict(short, i === 2 && j === 0 ? 'fail' : 'pass', i === 2 && j === 0 ? 'The output has 74 words, more than 60' : undefined), verdict(ticket, 'pass')];
  },
  spans: (i, j) => (i === 1 ? trace(questions[i]) : []),
  ...more,
});

// trace is what an agent did for an answer: three operations, the last of which failed.
const trace = (text) => [
  { id: 'a1', name: 'invoke_agent desk', startMs: 0, durationMs: 120, attributes: { 'gen_ai.operation.name': 'invoke_agent' } },
  { id: 'a2', parent: 'a1', name: 'chat gpt-5', startMs: 5, durationMs: 80, attributes: { 'gen_ai.request.model': 'gpt-5' } },
  { id: 'a3', parent: 'a1', name: 'execute_tool search_orders', startMs: 90, durationMs: 20, error: 'no order of that customer', attributes: { 'gen_ai.tool.name': 'search_orders', 'gen_ai.tool.call.arguments': JSON.stringify({ q: text }) } },
];

// before is the run that support is compared with: nothing of it is curt.
export const before = () => support({ id: '20261113-090000-b4se', branch: 'base', output: (i) => polite(i) });

const named = (n) => Array.from({ length: n }, (_, a) => ({ type: 'contains', metric: `check_${a}`, value: `word ${a}` }));
const statusAt = (n) => (n % 11 === 3 ? 'fail' : n % 97 === 5 ? 'error' : n % 89 === 7 ? 'skip' : 'pass');
const reasons = { fail: 'Expected the output to contain the word', error: 'could not be decided in 30 s' };
const many = (a) => (i, j) => a.map((x, n) => { const s = statusAt(i * 7 + j * 3 + n * 13); return verdict(x, s, reasons[s]); });

// sized has n cases, so many columns and so many assertions.
export function sized(id, n, columns, assertions, more = {}) {
  const asserts = named(assertions);
  return {
    id, name: `sized-${n}`, asserts, cases: n, columns: Array.from({ length: columns }, (_, j) => ({ prompt: `prompt ${j % 2}`, provider: `model-${j}` })),
    title: (i) => `case number ${i}${i % 1000 === 77 ? ' needle' : ''}`, verdicts: many(asserts), ...more,
  };
}

// bakery is a run with a prompt that says more than before, and answers that do not keep to it.
const answers = ['We open at six. Your bakers', 'Unfortunately, no. Your bakers', 'Yes. On Sundays, too. Your bakers', 'A. B is it. C is it. D is it. E is it. Your bakers', 'It is rye bread. Your bakers', 'No.'];
const bakery = (more) => ({
  name: 'bakery', asserts: [short], cases: answers.length, title: (i) => `bread ${i}`, output: (i) => answers[i], verdicts: () => [verdict(short, 'pass')], ...more,
  columns: [{ prompt: 'answers', provider: 'openai:chat:gpt-5', text: more.text }],
});

// hostileCase is the id of a case of the hostile run.
export const hostileCase = (i) => (i % 3 || corpus[i].text.length > 1000 ? hex(i) : corpus[i].text);

// hostile has attacks in every text that a page shows: one attack for each case, in all
// of its texts, and all of them in the names of the run.
export function hostile(id = '20261119-120000-h0st') {
  const all = corpus.filter((a) => a.text.length < 1000).map((a) => a.text), joined = all.join(' ');
  const at = (i) => corpus[i % corpus.length].text;
  const small = (i) => (at(i).length < 1000 ? at(i) : all[i % all.length]);
  const asserts = [...all.map((text) => ({ type: 'contains', metric: text, value: text })), { type: 'judge', id: joined, instruction: joined, criteria: all }];
  return {
    id, name: joined, branch: all[0], revision: { commit: '3fa9c1d200000000000000000000000000000000', branch: joined, base: joined, pullRequest: all[2], dirty: true },
    asserts, cases: corpus.length, columns: [{ prompt: all[0], provider: all[1], label: all[2], text: joined }, { prompt: joined, provider: joined, label: joined, text: joined }],
    title: small, vars: (i) => ({ question: small(i), [small(i)]: small(i + 1) }), metadata: (i) => ({ [small(i)]: small(i) }),
    prompt: small, caseId: hostileCase,
    output: (i, j) => (j === 0 ? at(i) : i % 4 === 3 ? { error: small(i) } : small(i)),
    spans: (i) => [{ id: small(i) || 's', name: small(i), startMs: 0, durationMs: 5, error: small(i), attributes: { [small(i)]: small(i), 'span.kind': small(i) } }],
    verdicts: (i, j, k, output) => [
      ...asserts.slice(0, -1).map((a, n) => verdict(a, n % 4 === 0 ? ['fail', 'pass', 'error', 'skip'][i % 4] : 'pass', small(i + n), { evidence: [{ quote: small(i), start: 0, note: small(i + 1) }], metadata: { renderedAssertionValue: small(i) } })),
      judged(asserts.at(-1), output, all.map((text, n) => [text, n % 2 ? 'fail' : 'pass', text, output.slice(0, 40)]), joined),
    ],
  };
}

// The runs by name. Each is written into its own folder under the given one.
export const kept = {
  support: (f) => write(f, support()),
  before: (f) => write(f, before()),
  passed: (f) => write(f, sized('20261110-080000-pa55', 6, 1, 2, { name: 'all-passed', verdicts: (i, j, k) => named(2).map((a) => verdict(a, 'pass')) })),
  bakeryBefore: (f) => write(f, bakery({ id: '20261112-070000-bak1', text: 'You answer questions of customers of a bakery.\n{{question}}' })),
  bakery: (f) => write(f, bakery({ id: '20261119-070000-bak2', text: 'You answer questions of customers of a bakery. \u{1f950}\nAnswer in at most 3 sentences.\nNever say "unfortunately".\nBe friendly.\nEnd with "Your bakers".\n{{question}}' })),
  repeats: (f) => write(f, sized('20261111-080000-rep3', 8, 2, 3, { name: 'repeated', repeats: 5, verdicts: (i, j, k) => named(3).map((a, n) => verdict(a, (i + k + n) % 4 === 0 ? 'fail' : 'pass', 'flaky')) })),
  k300: (f) => write(f, sized('20261112-080000-k300', 300, 3, 5)),
  k1: (f) => write(f, sized('20261112-080100-1000', 1000, 4, 5)),
  k20: (f) => write(f, sized('20261112-080150-1000', 20_000, 6, 5)),
  k10: (f) => write(f, sized('20261112-080200-1000', 10_000, 4, 5)),
  k100: (f) => write(f, sized('20261112-080300-1000', 100_000, 4, 5)),
  judged10: (f) => write(f, sized('20261112-080400-j10k', 10_000, 1, 1, { name: 'judged', asserts: [tone], output: (i) => (i % 5 ? polite(i) : curt(i)), verdicts: (i, j, k, output) => [judged(tone, output, [[tone.criteria[0], i % 5 ? 'pass' : 'fail', 'It says so.'], [tone.criteria[1], 'pass', 'Nobody is blamed.']])] })),
  large: (f) => write(f, sized('20261114-080000-10mb', 2, 1, 1, { name: 'large output', output: (i) => (i ? 'small' : 'All work and no play. '.repeat(10 * 2 ** 20 / 22)) })),
  wide: (f) => write(f, sized('20261115-080000-2000', 3, 1, 2000, { name: 'wide row', verdicts: (i) => named(2000).map((a, n) => verdict(a, n % 97 === i ? 'fail' : 'pass', reasons.fail)) })),
  cut: (f) => write(f, sized('20261116-080000-cut0', 40, 2, 3, { name: 'cut off' }), { rows: 31, finished: false, tail: '{"index":31,"id":"20261116-080000-cut0/31","caseId":"00' }),
  newer: (f) => write(f, sized('20261117-080000-newr', 3, 1, 2, { name: 'newer format', format: 2 })),
  hostile: (f) => write(f, hostile()),
  hostileBefore: (f) => write(f, { ...hostile('20261118-120000-h0s2'), output: (i) => corpus[i % corpus.length].text.slice(0, 999) }),
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [folder, ...names] = process.argv.slice(2);
  for (const name of names) console.log(kept[name](folder).path);
}
