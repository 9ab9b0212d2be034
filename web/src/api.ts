// The JSON of /v1 that the pages read. The Go types of the same names are in packages
// server, report and gate/show; a test of the server compares members.

export type Status = 'pass' | 'fail' | 'error' | 'skip';

// Codes of a status in the bytes of a matrix.
export const RUNNING = 0, PASS = 1, FAIL = 2, ERROR = 3, SKIP = 4;

export interface Progress { rows: number; finished: number; passed: number; failed: number; errors: number; skipped: number }

export interface Revision { commit?: string; branch?: string; dirty?: boolean; pull_request?: string; base?: string }

export type RunStatus = 'queued' | 'running' | 'done' | 'failed' | 'cancelled';

// A run, as GET /v1/runs lists it. results is missing in lists and until it has ended.
export interface Run {
  id: string; suite: string; version: string; hash?: string; status: RunStatus; error?: string;
  created_at: string; created_by?: string; started_at?: string; ended_at?: string;
  progress: Progress; pushed?: boolean; revision?: Revision; agent_id: string; test_suite: string;
  results?: BatchResults; judges?: BatchJudge[]; cost: number;
}

export interface Interval { low: number; high: number }

export interface BatchAssertion {
  pass_rate: number | null; pass_rate_interval: Interval | null; passed: number; failed: number; errors: number; skipped: number;
  cannot_tell?: number; cost: number; judges?: string[];
}

export interface BatchResults {
  total_cases: number; passed_cases: number; failed_cases: number; average_score: number | null;
  assertion_breakdown: Record<string, BatchAssertion>;
}

export interface BatchJudge { judge: string; verdicts: number; cached: number; errors: number; total_tokens: number; cost: number }

export interface Page<T> { items: T[]; next?: string }

// GET /v1/runs/{run}/matrix. Bytes are in base64, one for each case, column and repeat,
// in this order: the byte of (case i, column j, repeat k) is at (i*columns + j)*repeats + k.
export interface Matrix {
  columns: Column[];
  assertions: string[];  // names, in the order of the suite
  types: string[];       // of the assertions: "contains", "llm-rubric", …
  more_assertions: number; // assertions beyond the limit of 2,000, which have no verdicts here
  cases: string[];       // ids
  titles: string[];      // descriptions, "" where the suite gives none; [] if no case has one
  repeats: number;       // of each case, 1 or more
  cells: string;         // statuses
  index: string;         // of the row, as little-endian uint32; 0xffffffff if there is none
  verdicts: Record<string, string>; // by assertion: statuses; 0 where the case does not have it
  finished: number;      // rows
  rows: number;          // that the run will have
  status: RunStatus;
}

// A column of a run: a prompt with a provider.
export interface Column { prompt: string; provider: string }

// GET /v1/runs/{run}/previews?index=0,1,2 (up to 400): what cells show.
export interface Preview {
  index: number;
  input: string;    // variables in short, at most 200 characters
  output: string;   // its first 200 characters, or the part that a failure is about
  why: string;      // reason of the first assertion that did not pass, at most 200 characters
  assertion: string; // name of that assertion, "" if there is none
  score: string;    // as people read it, "0.67 of 0.8 needed"; "–" if there is none
}

// GET /v1/runs/{run}/results/{index}/detail: a row, prepared for people.
export interface Detail {
  index: number; case: string; title: string; column: number; repeat: number; status: Status;
  score: string;                    // with what it was compared with
  forgiven?: boolean;               // failed, and the suite's rule for repeats lets it pass
  prompt: string; vars: [name: string, value: string][];
  output?: string;                  // absent if there is none
  why?: string;                     // why the row did not pass, if no assertion says it
  latency_ms?: number; cost?: number; incurred_cost?: number; tokens?: number; cached?: boolean;
  assertions: DetailAssertion[];    // in the order of the suite; parts of a set follow it
  spans?: Span[];                   // the trace, parents before children
  cut?: string[];                   // texts that were shortened: "output", "prompt", …
}

export interface DetailAssertion {
  name: string;        // as in Matrix.assertions
  type: string; status: Status;
  level?: number;      // of nesting in assertion sets, 0 or absent at the top
  asks?: string;       // the criterion or the instruction, for judged ones
  value?: string;      // what was expected
  reason: string;
  score?: string; threshold?: string; weight?: number;
  criteria?: { text: string; status: Status; why?: string }[];
  evidence?: Evidence[];
  diff?: DiffPart[];   // expected and actual, where that helps
  judge?: string; agreement?: string; cost?: number; cached?: boolean;
}

// A quote of the output. start and end are offsets in UTF-16 units; absent if the quote
// is not in the output, which is then not marked. A span of the trace has a note instead.
export interface Evidence { quote: string; start?: number; end?: number; note?: string }

export interface DiffPart { kind: 'same' | 'expected' | 'actual'; text: string }

export interface Span { id: string; parent?: string; name: string; kind?: string; start_ms: number; duration_ms: number; status?: string; attributes?: [string, string][] }

// GET /v1/runs/{run}/search?q=: rows whose texts contain q, as base64 uint32 indices.
export interface Found { rows: string; searched: number; more: boolean }

// GET /v1/compare?base=&head=: as proviso compare --format json, and the decision.
export interface Estimate { value: number | null; low: number | null; high: number | null }
export interface Figure extends Estimate { n: number }
export interface Effect { base: Figure; head: Figure; difference: Estimate; corrected?: Effect | null }
export interface AssertionEffect extends Effect {
  assertion: string; pairs: number; broke: number; fixed: number; p: number; p_adjusted: number; judged: boolean;
  only_base: number; only_head: number; left_out: number;
}
export interface Side { run: string; suite: string; prompts: string; judge: string; cases: string; repeats: number }
export interface Change { case: string; column: number; change: number | null; broke: string[]; fixed: string[]; base_rows: number[]; head_rows: number[] }
export interface Comparison {
  suite: Effect; assertions: AssertionEffect[];
  cases: { broke: string[]; fixed: string[]; still_failing: string[]; flaky: string[]; same: number; only_base: string[]; only_head: string[]; undecided: string[] };
  warnings: string[]; base: Side; head: Side; pairs: number; left_out: number;
  columns: { base: Column; head: Column }[]; cost: Effect | null; tokens: Effect | null; latency_ms: Effect | null;
  changes: Change[];
  decision?: { decision: 'pass' | 'fail' | 'inconclusive'; reasons: Reason[]; needed: { cases: number; repeats: number } | null };
}
export interface Reason { rule: string; assertion?: string; met: boolean; text: string }

// GET /v1/assertions?suite=&runs=20: the verdicts on assertions over the last runs.
export interface AssertionHistory {
  suite: string; assertion: string; type: string; judged: boolean; judges: string[];
  history: { run: string; started_at: string; passed: number; failed: number; errors: number; skipped: number }[]; // oldest first
}

// GET /v1/judges: judge models, with their agreement with people where it was measured.
export interface Judge {
  judge: string; verdicts: number; errors: number; cached: number; cost: number; runs: number; last_run: string;
  alignment: Alignment[];
}
// How a judge agreed with labels, for one criterion or, with "", over all.
export interface Alignment {
  criterion: string; labels: number; true_pass: number; false_pass: number; true_fail: number; false_fail: number; undecided: number;
  agreement: Estimate; kappa: Estimate; measured_at?: string;
}

// GET /v1/prompts: the prompts of the runs, each with its versions, newest first.
export interface Prompt {
  name: string; suite: string;
  versions: { hash: string; text: string; first_run: string; last_run: string; first_seen: string; last_seen: string; runs: number; passed: number; failed: number; errors: number }[];
  coverage: { text: string; start: number; end: number; assertions: string[] }[]; // sentences of the newest version; instructions only
}

// GET /v1/settings: what this server is.
export interface Settings {
  version: string; mode: 'view' | 'serve'; folder?: string; read_only: boolean; open: boolean;
  providers: { id: string; key: 'present' | 'absent' | 'not needed' }[];
  keys: { id: string; name: string; scopes: string[]; last_used?: string }[];
  limits: Record<string, number | string>;
}

// GET /v1/session: who the browser is to the server. 401 without a session where one is needed.
export interface Session { scopes: string[]; project: string; mode: 'view' | 'serve' }

export interface Problem { type: string; title: string; status: number; detail: string; code?: string }
