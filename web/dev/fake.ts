// A RunSource of made-up data, to look at the run view and to measure it.
import type { Detail, DetailAssertion, Matrix, Preview, Run } from '../src/api';
import { ERROR, FAIL, PASS, SKIP } from '../src/api';
import type { RunSource } from '../src/source';

export interface Shape { cases: number; columns: number; assertions: number; repeats?: number; fail?: number; running?: number; mode?: string }

function random(seed: number): () => number {
  return () => { seed = (seed * 1664525 + 1013904223) >>> 0; return seed / 2 ** 32; };
}

function base64(data: Uint8Array): string {
  let text = '';
  for (let i = 0; i < data.length; i += 32768) text += String.fromCharCode(...data.subarray(i, i + 32768));
  return btoa(text);
}

const topics = ['refund', 'invoice', 'delay', 'broken item', 'password', 'two orders', 'address', 'gift card', 'complaint', 'cancel'];
const moods = ['angry', 'short', 'polite', 'in German', 'with a typo', 'no order number', 'twice', 'long story'];
const output = (i: number): string => `Hello,\n\nI am sorry to hear that your order is late. I already told you that the parcel left on Monday. You can return it within 30 days and we refund the full amount (ticket ${i}).\n\nThe refund takes 5 to 7 working days. Please tell us if anything else is open.\n\nKind regards\nSupport`;

export function fake(s: Shape): RunSource {
  const repeats = s.repeats ?? 1, n = s.cases * s.columns * repeats, next = random(7);
  const names = ['mentions_refund', 'tone', 'no_escalation', 'answers in the language of the customer', 'under_80_words'];
  while (names.length < s.assertions) names.push('check_' + names.length);
  names.length = s.assertions;
  const results = new Uint8Array(n).fill(PASS), index = new Uint32Array(n), verdicts = names.map(() => new Uint8Array(n));
  const rates = names.map((_, a) => (s.fail ?? 1) * [0.05, 0.22, 0.03, 0.08, 0.01][a % 5]! * (a > 4 ? 0.02 : 1));
  const done = s.running ?? s.cases;
  for (let i = 0; i < n; i++) {
    const c = Math.floor(i / (s.columns * repeats)), j = Math.floor(i / repeats) % s.columns;
    index[i] = i;
    if (c >= done) { results[i] = 0; index[i] = 0xffffffff; continue; }
    const hard = c % 9 === 0 ? 3 : 0.7;
    for (let a = 0; a < names.length; a++) {
      const r = next(), f = rates[a]! * hard * (j === 1 ? 1.5 : 0.8);
      const v = r < f ? FAIL : s.fail !== 0 && r > 0.997 && a % 5 === 1 ? ERROR : a % 5 === 4 && c % 3 === 0 ? SKIP : PASS;
      verdicts[a]![i] = v;
      if (v === FAIL) results[i] = FAIL;
      else if (v === ERROR && results[i] !== FAIL) results[i] = ERROR;
    }
    if (s.fail !== 0 && c % 97 === 5) { results[i] = ERROR; for (const v of verdicts) v[i] = 0; }
  }
  const prompts = ['You are a support agent. Answer politely and briefly. Offer a refund where the order is late.', 'You are a support agent. Answer politely and briefly. Say what happens next, step by step.'];
  const count = (code: number) => results.reduce((k, v) => k + Number(v === code), 0);
  const status = s.running !== undefined && s.mode === 'live' ? 'running' : 'done';
  const matrix: Matrix = {
    columns: Array.from({ length: s.columns }, (_, j) => ({ prompt: s.mode === 'one' ? prompts[0]! : prompts[j % 2]!, provider: ['openai:gpt-5-mini', 'anthropic:claude-haiku-4', 'mistral:small'][(j >> 1) % 3]! })),
    assertions: names, types: names.map((_, a) => ['icontains', 'llm-rubric', 'not-contains', 'llm-rubric', 'javascript'][a % 5]!), more_assertions: 0,
    cases: Array.from({ length: s.cases }, (_, c) => String(c + 1).padStart(4, '0')),
    titles: Array.from({ length: s.cases }, (_, c) => topics[c % 10] + ', ' + moods[(c * 7 + (c >> 3)) % 8]),
    repeats, cells: base64(results), index: base64(new Uint8Array(index.buffer)), verdicts: Object.fromEntries(names.map((name, a) => [name, base64(verdicts[a]!)])),
    finished: done * s.columns * repeats, rows: n, status,
  };
  const progress = { rows: n, finished: done * s.columns * repeats, passed: count(PASS), failed: count(FAIL), errors: count(ERROR), skipped: count(SKIP) };
  const run: Run = { id: 'r1', suite: 'support-bot', version: 'v14', status, created_at: '2026-11-20T13:54:00Z', progress, agent_id: '', test_suite: 'support-bot', cost: 1.24 };
  const place = (i: number) => ({ c: Math.floor(i / (s.columns * repeats)), j: Math.floor(i / repeats) % s.columns, k: i % repeats });
  const statusOf = (code: number) => (['pass', 'pass', 'fail', 'error', 'skip'] as const)[code]!;
  const reasons = ['Expected the output to contain "refund".', 'It addresses the customer curtly in the second sentence, and blames them for asking again.', 'The output contains "escalate".', 'The customer wrote in German; the reply is in English.', 'The output has 91 words, and at most 80 are allowed.'];

  const assertion = (i: number, a: number): DetailAssertion | undefined => {
    const code = verdicts[a]![i]!;
    if (!code) return undefined;
    const text = output(place(i).c), quote = 'I already told you that the parcel left on Monday.', start = text.indexOf(quote);
    const base: DetailAssertion = { name: names[a]!, type: matrix.types[a]!, status: statusOf(code), reason: code === ERROR ? 'The judge did not reply within 30 s, after 3 attempts.' : code === FAIL ? reasons[a % 5]! : '' };
    if (a % 5 === 1) Object.assign(base, {
      asks: 'The reply keeps a polite tone throughout, also where the customer is angry.', score: code === FAIL ? '0.32' : '0.95', threshold: '0.7', judge: 'openai:gpt-5', agreement: 'agreed with people in 46 of 50', cost: 0.0004,
      criteria: code === ERROR ? [] : [
        { text: 'Greets the customer', status: 'pass' }, { text: 'Does not blame the customer', status: code === FAIL ? 'fail' : 'pass', why: code === FAIL ? '“I already told you”' : '' }, { text: 'Thanks or apologises', status: 'pass' }],
      evidence: code === FAIL ? [{ quote, start, end: start + quote.length }, { quote: 'as I said before' }] : [],
    });
    if (a % 5 === 4 && code === FAIL) Object.assign(base, { value: 'at most 80 words', diff: [{ kind: 'same', text: 'The reply has ' }, { kind: 'expected', text: '80' }, { kind: 'actual', text: '91' }, { kind: 'same', text: ' words' }] });
    if (a % 5 === 0) base.value = 'refund';
    return base;
  };
  const detail = async (i: number): Promise<Detail> => {
    if (s.mode === 'broken') throw new Error('The row could not be read.');
    const { c, j, k } = place(i), spans = [['1', '', 'chat', 0, 1900], ['2', '1', 'lookup_order', 120, 300], ['3', '2', 'GET /orders/1841', 140, 240], ['4', '1', 'gpt-5-mini', 450, 1400]] as const;
    let text = output(c);
    if (s.mode === 'huge') text = text.repeat(Math.ceil(10_000_000 / text.length));
    return {
      index: i, case: matrix.cases[c]!, title: matrix.titles[c]!, column: j, repeat: k, status: statusOf(results[i]!), score: '0.61 of 0.8 needed',
      prompt: matrix.columns[j]!.prompt + '\n\nWhere is my order?', vars: [['question', 'Where is my order 1841? I asked twice!'], ['language', 'en']], ...(results[i] === ERROR && !verdicts[0]?.[i] ? { why: 'The provider replied with status 429 four times: rate limit reached.' } : { output: text }),
      latency_ms: 1900, cost: 0.0012, tokens: 512, assertions: names.flatMap((_, a) => assertion(i, a) ?? []),
      spans: spans.map(([id, parent, name, start, ms]) => ({ id, ...(parent ? { parent } : {}), name, kind: name === 'lookup_order' ? 'tool' : '', start_ms: start, duration_ms: ms })),
    };
  };
  const preview = (i: number): Preview => {
    const bad = names.findIndex((_, a) => verdicts[a]![i] === FAIL || verdicts[a]![i] === ERROR);
    return { index: i, input: 'Where is my order', output: output(place(i).c).slice(0, 200), why: bad >= 0 ? reasons[bad % 5]! : results[i] === ERROR ? 'The provider replied with status 429 four times.' : '', assertion: bad >= 0 ? names[bad]! : '', score: '–' };
  };
  return {
    run: async () => run,
    matrix: async () => { if (s.mode === 'down') throw new Error('The server does not reply.'); return matrix; },
    previews: async (rows) => { (globalThis as { asked?: number[] }).asked = [...((globalThis as { asked?: number[] }).asked ?? []), rows.length]; return rows.map(preview); },
    detail, search: async (q) => ({ rows: base64(new Uint8Array(new Uint32Array(q === 'monday' ? [3, 4] : []).buffer)), searched: n, more: false }),
    watch: () => () => {},
  };
}

// growing is a run that goes on: each step adds cases, until all are there.
export function growing(s: Shape, every = 400, step = 20): RunSource {
  let done = step;
  const now = () => fake({ ...s, running: Math.min(done, s.cases), mode: done < s.cases ? 'live' : '' });
  let source = now();
  return {
    run: () => source.run(), matrix: () => source.matrix(), previews: (rows) => source.previews(rows), detail: (i) => source.detail(i), search: (q, a) => source.search(q, a),
    watch: (changed) => {
      const timer = setInterval(() => {
        done += step;
        source = now();
        changed();
        if (done >= s.cases) clearInterval(timer);
      }, every);
      return () => clearInterval(timer);
    },
  };
}
