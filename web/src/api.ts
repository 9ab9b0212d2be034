// The JSON of /v1 that the pages read. The Go types of the same names are in packages
// server, report and gate/show; a server test compares the members.

export type Status = 'pass' | 'fail' | 'error' | 'skip';

// Status codes in the bytes of a matrix.
export const RUNNING = 0, PASS = 1, FAIL = 2, ERROR = 3, SKIP = 4;

export interface Progress { rows: number; finished: number; passed: number; failed: number; errors: number; skipped: number }

export interface Revision { commit?: string; branch?: string; dirty?: boolean; pull_request?: string; base?: string }

export type RunStatus = 'queued' | 'waiting' | 'running' | 'done' | 'failed' | 'cancelled';

// A run, as GET /v1/runs lists it. results is missing in lists and until the run has ended.
export interface Run {
  id: string; suite: string; version: string; hash?: string; status: RunStatus; waits?: string; replayed?: boolean; judged_by?: string[]; error?: string;
  created_at: string; created_by?: string; started_at?: string; ended_at?: string;
  progress: Progress; pushed?: boolean; revision?: Revision; agent_id: string; test_suite: string;
  results?: BatchResults; judges?: BatchJudge[]; cost: number; datasets?: RunDataset[];
}

// goesOn reports whether a run has not ended.
export const goesOn = (status: RunStatus): boolean => status === 'queued' || status === 'waiting' || status === 'running';

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
  titles: string[];      // descriptions, "" where the suite has none; [] if no case has one
  repeats: number;       // of each case, 1 or more
  cells: string;         // statuses
  index: string;         // of the row, as little-endian uint32; 0xffffffff if there is none
  verdicts: Record<string, string>; // by assertion: statuses; 0 where the case does not have it
  finished: number;      // rows so far
  rows: number;          // rows of the complete run
  status: RunStatus;
}

// A column of a run: a prompt with a provider.
export interface Column { prompt: string; provider: string }

// GET /v1/runs/{run}/previews?index=0,1,2 (up to 400): the texts in cells.
export interface Preview {
  index: number;
  input: string;    // variables, shortened to at most 200 characters
  output: string;   // its first 200 characters, or the part concerned by a failure
  why: string;      // reason of the first assertion that did not pass, at most 200 characters
  assertion: string; // name of that assertion, "" if there is none
  score: string;    // for people, "0.67 of 0.8 needed"; "–" if there is none
}

// GET /v1/runs/{run}/results/{index}/detail: a row, prepared for people.
export interface Detail {
  index: number; case: string; title: string; column: number; repeat: number; status: Status;
  score: string;                    // with the threshold
  forgiven?: boolean;               // failed, but passes by the suite's rule for repeats
  prompt: string; vars: [name: string, value: string][];
  output?: string;                  // absent if there is none
  why?: string;                     // why the row did not pass, unless an assertion explains it
  latency_ms?: number; cost?: number; incurred_cost?: number; tokens?: number; cached?: boolean;
  assertions: DetailAssertion[];    // in the order of the suite; parts of a set follow it
  spans?: Span[];                   // the trace, parents before children
  cut?: string[];                   // texts that are shortened: "output", "prompt", …
}

export interface DetailAssertion {
  name: string;        // as in Matrix.assertions
  type: string; status: Status;
  level?: number;      // nesting in assertion sets, 0 or absent at the top
  asks?: string;       // criterion or instruction of a judged assertion
  value?: string;      // expected value
  reason: string;
  score?: string; threshold?: string; weight?: number;
  criteria?: { text: string; status: Status; why?: string }[];
  evidence?: Evidence[];
  diff?: DiffPart[];   // expected and actual, where useful
  judge?: string; agreement?: string; cost?: number; cached?: boolean;
}

// A quote from the output. start and end are offsets in UTF-16 units. They are absent if
// the quote is not in the output, which then has no mark. A span of the trace has a note
// instead.
export interface Evidence { quote: string; start?: number; end?: number; note?: string }

export interface DiffPart { kind: 'same' | 'expected' | 'actual'; text: string }

export interface Span { id: string; parent?: string; name: string; kind?: string; start_ms: number; duration_ms: number; status?: string; attributes?: [string, string][] }

// GET /v1/runs/{run}/search?q=: rows whose texts contain q, as base64 uint32 indices.
export interface Found { rows: string; searched: number; more: boolean }

// GET /v1/compare?base=&head=: the JSON of proviso compare --format json, and the decision.
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
  titles?: Record<string, string>; // names of cases without an id, by the id that proviso made: the description, or the shortened variables
  warnings: string[]; base: Side; head: Side; pairs: number; left_out: number;
  columns: { base: Column; head: Column }[]; cost: Effect | null; tokens: Effect | null; latency_ms: Effect | null;
  changes: Change[];
  decision?: { decision: 'pass' | 'fail' | 'inconclusive'; reasons: Reason[]; needed: { cases: number; repeats: number } | null };
}
export interface Reason { rule: string; assertion?: string; met: boolean; text: string }

// GET /v1/assertions?suite=&runs=20: the verdicts on assertions in the last runs.
export interface AssertionHistory {
  suite: string; assertion: string; type: string; judged: boolean; judges: string[];
  history: { run: string; started_at: string; passed: number; failed: number; errors: number; skipped: number }[]; // oldest first
}

// GET /v1/judges: judge models, with their measured agreement with people.
export interface Judge {
  judge: string; verdicts: number; errors: number; cached: number; cost: number; runs: number; last_run: string; too_few?: string;
  alignment: Alignment[];
}
// The agreement of a judge with labels, for one criterion or, with "", overall.
export interface Alignment {
  criterion: string; labels: number; true_pass: number; false_pass: number; true_fail: number; false_fail: number; undecided: number;
  agreement: Estimate; kappa: Estimate; measured_at?: string; from?: 'align' | 'labels';
}

// GET /v1/prompts: the prompts of the runs with their versions, newest first.
export interface Prompt {
  name: string; suite: string;
  versions: { hash: string; text: string; first_run: string; last_run: string; first_seen: string; last_seen: string; runs: number; passed: number; failed: number; errors: number }[];
  coverage: { text: string; start: number; end: number; assertions: string[] }[]; // sentences of the newest version; instructions only
}

// GET /v1/settings: facts about this server.
export interface Settings {
  version: string; mode: 'view' | 'serve'; folder?: string; read_only: boolean; open: boolean;
  evaluations: { count: number; p50_ms: number | null; p95_ms: number | null };
  providers: { id: string; key: 'present' | 'absent' | 'not needed' }[];
  keys: { id: string; name: string; scopes: string[]; last_used?: string }[];
  limits: Record<string, number | string>;
}

// GET /v1/session: the browser's identity. 401 if a session is required and there is none.
export interface Session { scopes: string[]; project: string; mode: 'view' | 'serve' }

export interface Problem { type: string; title: string; status: number; detail: string; code?: string; errors?: { pointer: string; message: string; nearest?: string }[]; current?: unknown }

// Labels: POST, GET and DELETE /v1/labels.
export type Said = 'pass' | 'fail' | 'unsure';
export interface NewLabel {
  evaluation?: string; run?: string; index?: number; event?: string; stratum?: 'random' | 'informative'; assertion: string; label: Said; note?: string;
  evidence?: Place[]; queue?: string; lease?: string; by?: string;
}
export interface Place { start: number; end: number }
export interface Label {
  id: string; by: string; name?: string; created: string; evaluation?: string; event?: string; run?: string; index?: number; assertion: string; label: Said;
  note?: string; evidence?: Place[]; case?: string; output_id?: string; judge?: string; judged?: string; queue?: string; stratum?: string; replaced?: boolean;
}
export interface LabelList { items: Label[]; next?: string }

// Label queues: /v1/label-queues/{queue}, and POST …/lease for the next item (204 if none
// is left).
export interface NewLabelQueue { run?: string; events?: string[]; filter?: string; assertions?: string[]; size?: number; random?: number; blind?: boolean; people?: number }
export interface LabelQueue {
  name: string; run: string; blind: boolean; people: number; items: number; done: number; created: string; created_by?: string; agreement?: LabelAgreement;
}
export interface Kappa { n: number; agree: number; kappa: number | null; low: number | null; high: number | null }
export interface LabelAgreement {
  with_judge: Kappa; assertions: (Kappa & { assertion: string })[]; between_people: Kappa & { pairs: (Kappa & { people: string[] })[] };
}
export interface LeaseRequest { seconds?: number; lease?: string; resume?: boolean; skip?: SkippedItem[] }
export interface SkippedItem { index?: number; event?: string; assertion: string }
export interface Lease {
  item: LabelItem; why: string; stratum: 'random' | 'informative'; lease: string; expires: string; left: number; mine: number; done: number; blind: boolean;
  agreement: LabelAgreement;
}
export interface LabelItem {
  run: string; index: number; event?: string; assertion: string; case: string; title: string; instruction: string; criteria: string[]; question: string; input: string;
  prompt: string; vars: [string, string][]; output: string; cut?: string[]; judge?: DetailAssertion;
}
// Streamed evaluations and panel tokens.
// GET /v1/evaluations/{id}.
export interface Evaluation {
  id: string; created_at: string; created_by?: string; assertion_set_version?: string; status: 'pass' | 'fail' | 'error' | 'skip' | 'running'; score: number | null;
  passed: number; failed: number; errors: number; skipped: number; judge?: string; cost: number; duration_ms: number;
  agent_output?: string; request?: unknown; response?: unknown;
}
// The data of the events start and verdict of GET /v1/evaluations/{id}/events.
export interface StreamStart { id: string; total: number; assertions: { index: number; id: string; instruction?: string }[]; output_hash: string }
export interface Decision {
  index: number; id: string; pass: boolean; reasoning: string; status: 'pass' | 'fail' | 'error' | 'skip'; score?: number;
  criteria?: { criterion: string; pass: boolean; reasoning: string; status: string; cannot_tell?: boolean; evidence?: string[]; note?: string; votes?: { met: number; unmet: number; cannot_tell?: number; failed: number } }[];
  evidence?: string[]; marks?: { quote: string; start: number; end: number }[]; // UTF-16 offsets into the output
  judge?: string; cached?: boolean; usage?: Record<string, number>; cost?: number;
}
// The data of the event end.
export interface StreamEnd {
  score: number | null; passed: number; failed: number; total: number; status: 'pass' | 'fail' | 'error' | 'skip'; errors?: { id: string; message: string }[];
  skipped?: number; threshold: number; passed_threshold: boolean; weighted_score?: number; total_ms: number;
}
export interface PanelToken { token: string; expires: string }
// POST /v1/answers.
export interface Answered {
  output: unknown; usage: { prompt: number; completion: number; cached: number; total: number; requests: number }; cost: number | null; latency_ms: number;
  cached?: boolean; finish_reason?: string;
}
// GET /v1/providers.
export interface AskableProvider { id: string; key: 'present' | 'absent' | 'not needed'; doc?: string; models: string[]; allowed: boolean }
// POST /v1/lint.
export interface LintedAssertion { index: number; id: string; findings: { rule: string; pointer: string; message: string; suggestion?: string }[] }
// Stored assertion sets and suites.
export interface StoredVersion { name: string; version: string; number: number; current: boolean; prompt_hash?: string; size: number; created_at: string; created_by?: string }
export interface StoredSet extends StoredVersion { assertions: import('../panel/panel').Assertion[]; prompt?: string }

// Datasets: named cases; each change makes a version.
export interface RunDataset { name: string; version: string; number: number; asked?: string }
export interface DatasetVersion extends StoredVersion { cases: number }
export interface Case {
  id: string; description?: string; vars?: Record<string, unknown>; assert?: unknown[]; threshold?: number; metadata?: Record<string, unknown>;
}
export interface StoredDataset extends DatasetVersion { items: Case[]; next?: string }
export interface ChangedDataset extends DatasetVersion { added?: string[]; known?: number; removed?: number; left_out?: string[] }
export interface DatasetDiff {
  from: DatasetVersion; to: DatasetVersion; added: Case[]; removed: Case[]; changed: ChangedCase[];
  counts: { added: number; removed: number; changed: number; same: number };
}
export interface ChangedCase { case: string; before: Case; after: Case }

// Trials of a changed judge: /v1/judge-trials. The base is the judge before the change.
export interface NewTrial { run: string; assertion: string; change: TrialChange; limit?: number }
export interface TrialChange { instruction?: string; criteria?: unknown[]; value?: string; rubric_prompt?: string; context?: string; judge?: string }
export interface Trial {
  id: string; run: string; assertion: string; change: TrialChange; status: 'running' | 'done' | 'failed' | 'cancelled'; created_at: string;
  total: number; done: number; errors: number; cost: number; error?: string; result?: TrialResult;
}
export interface TrialHalf { labels: number; cases: number; pairs: number; before: TrialSide; after: TrialSide; difference: TrialDifference; finding: 'better' | 'worse' | 'unclear' | 'unknown' }
export interface TrialSide {
  true_pass: number; false_pass: number; true_fail: number; false_fail: number; errors: number; agreement: number | null; kappa: Estimate; tpr: Estimate; tnr: Estimate;
}
export interface TrialDifference { kappa: Estimate; tpr: Estimate; tnr: Estimate }
export interface TrialResult extends TrialHalf {
  work: TrialHalf; held_out: TrialHalf; flipped: Flip[]; judge_before: string[]; judge_after: string[]; failures: string[]; looks: number;
  definition: Definition; left_out: LeftOut;
}
export interface Flip { index: number; case: string; held_out: boolean; label: 'pass' | 'fail'; before: Judged; after: Judged; agrees: boolean }
export interface Judged { status: Status; reason: string }
export interface LeftOut { ties: number; unsure: number; other_text: number; not_applied: number; beyond: number }
export interface TrialBase {
  run: string; assertion: string; assertions: { assertion: string; labels: number }[]; definition: Definition | null; judges: string[]; labels: number; good: number;
  work_labels: number; held_out_labels: number; left_out: LeftOut; looks: number;
}
// An assertion as in a suite.
export type Definition = Record<string, unknown>;

// POST /v1/spade: assertions for the instructions of a prompt, derived by rules.
export interface SpadeRequest {
  versions?: { name?: string; text: string }[]; prompt?: string; suite?: string; examples?: SpadeExample[]; run?: string; labels?: Record<string, Said>;
  reject?: string[]; keep?: string[]; cases?: boolean; alpha?: number; tau?: number;
}
export interface SpadeExample { id: string; output: string; label?: Said; vars?: Record<string, unknown> }
export interface SpadeAnswer {
  history: SpadeChange[]; sentences: SpadeSentence[]; candidates: SpadeCandidate[]; former: string[]; unread?: string; unchecked: SpadeUnchecked[]; examples: SpadeOutput[]; more: boolean;
  selection: SpadeSelection | null; assertions: string; suite?: string;
}
export interface SpadeChange { version: number; name: string; text: string; changes: SpadeDelta[] }
export interface SpadeDelta { change: 'added' | 'removed' | 'moved'; text: string; line: number; category: string; part?: string; from?: number; former?: string; condition?: string; when?: string }
export interface SpadeSentence { text: string; start: number; end: number; category: string; instruction: boolean; assertions: string[]; candidates: string[]; condition?: string; when?: string }
export interface SpadeCandidate {
  name: string; description: string; assertion: Record<string, unknown>; category: string; sentence: string; version: number; removed?: number; caught: string[]; false: string[];
  failed: string[]; undecided: string[]; fate: 'selected' | 'unfair' | 'implied' | 'spare' | 'crowded' | 'rejected' | 'aside' | 'none'; implied_by: string[];
}
export interface SpadeUnchecked { text: string; category: string; version: number; reason: string }
export interface SpadeOutput { id: string; index?: number; output: string; cut?: boolean; label: 'pass' | 'fail' | ''; caught_by: string[] }
export interface SpadeSelection {
  method: 'sub' | 'none'; found: boolean; best: number; chosen: string[]; proven: boolean; caught: number; of: number; failed_good: number; good: number; uncaught: string[];
}

// The monitor: /v1/watches, /v1/alarms, /v1/adoption.
export type WatchState = 'ok' | 'learning' | 'alarm' | 'silent';
export interface WatchView {
  name: string; version: number; hash: string; created_at: string; updated_at: string; created_by?: string; watch: Record<string, unknown>; anchors: number; state: WatchState;
  causes?: string[]; open_alarms: number; queue: WatchQueue; spend: WatchSpend; last_verdict?: string; last_error?: string; error?: string; charts: ChartView[]; false_alarms?: string; warnings?: string[];
}
export interface WatchQueue { pending: number; oldest?: string; dropped_today: number }
export interface WatchSpend { day: string; budget?: number; spent: number; reserved: number; uncertain: number; events: number }
export interface ChartView {
  assertion: string; version?: string; judge?: string; n: number; entered: number; errors?: number; skipped?: number; rate: number | null; low: number | null; high: number | null;
  state: 'learning' | 'watching' | 'alarm'; source?: string; in_control: number | null; per_day: number; smallest_change: number | null; smallest_rate: number | null; value: number; alarm?: string;
}
export interface WatchSeries { watch: string; from: string; to: string; step_s: number; by?: string; lines: SeriesLine[] }
export interface SeriesLine { assertion: string; version?: string; judge?: string; segment?: string; total: SeriesBucket; note?: string; buckets: (SeriesBucket | null)[] }
export interface SeriesBucket {
  start: string; n: number; fail: number; errors?: number; skipped?: number; rate: number | null; low: number | null; high: number | null; corrected?: RateInterval; cost?: number;
}
export interface RateInterval { rate: number; low: number; high: number; labels?: number }
export interface WatchDifferences { watch: string; from: string; to: string; before: string; traffic: TrafficDifference; assertions: AssertionDifference[]; mix: MixDifference[] }
export interface TrafficDifference { before: TrafficFigures; within: TrafficFigures }
export interface TrafficFigures { events: number; per_hour: number; failed: number | null; tokens: number | null; cost: number | null; latency_ms: number | null }
export interface AssertionDifference { assertion: string; before: SeriesBucket; within: SeriesBucket; change?: RateInterval; by?: ValueRate[] }
export interface ValueRate { what: 'version' | 'segment'; value: string; rate: SeriesBucket }
export interface MixDifference { what: string; value: string; before: number; within: number; events: number; new?: boolean }
export interface WatchThumbs { watch: string; from: string; to: string; about: string; users: number; note?: string; cut?: boolean; assertions: AssertionThumbs[] }
export interface AssertionThumbs {
  assertion: string; votes: number; down: ThumbCounts; up: ThumbCounts; voted: ThumbShares; odds_ratio?: ThumbFigure; auc?: ThumbFigure; graded_auc?: ThumbFigure; note?: string;
}
export interface ThumbCounts { fail: number; pass: number }
export interface ThumbShares { fail: number | null; pass: number | null }
export interface ThumbFigure { value: number; low: number | null; high: number | null }
export interface AlarmShown {
  id: string; watch: string; kind: 'agent' | 'judge' | 'mix' | 'silent'; cause?: string; assertion: string; state: 'open' | 'acked' | 'closed'; opened: string; closed: string | null; reason: string;
  since: { low: string; high: string } | null; baseline: { rate: number; upper: number; n: number } | null; now: { rate: number; low: number; high: number; n: number; corrected: number | null } | null;
  statistic: { value: number; threshold: number; arl0_days: number } | null; version: string; judge: string; changed: { what: string; from: string; to: string; at: string }[]; examples: string[];
  acked_by?: string; acked_at?: string; ack_note?: string;
}
export interface AlarmView extends AlarmShown { notices: NoticeView[] }
export interface NoticeView {
  target: string; event: 'opened' | 'closed'; state: 'waiting' | 'sent' | 'dropped'; attempts: number; created_at: string; sent_at?: string; next_at?: string; error?: string; remote?: string;
}
export interface Adoption { at: string; measures: Measure[]; agents: AgentAdoption[]; pull_requests: PullRequest[] }
export interface Measure { name: string; definition: string; value: number | null; of: number }
export interface AgentAdoption {
  agent: string; events: number; watches: string[]; assertions: number; evaluated: number | null; last_evaluated?: string; prompts: PromptAdoption[];
}
export interface PromptAdoption { hash: string; first: string; last: string; events: number; instructions: number | null; covered: number | null }
export interface PullRequest { number: string; suite: string; run: string; at: string; changed: boolean | null; verdict: boolean }

// Traffic: /v1/events and /v1/conversations.
export interface TrafficEvent {
  id: string; agent: string; time: string; received: string; conversation?: string; trace_id?: string; kept: boolean; failed?: boolean; input?: string; output?: string; context?: string;
  error?: string; version?: string; prompt?: string; model?: string; segment?: Record<string, string>; user?: string; metadata?: Record<string, unknown>; usage?: EventUsage; cost?: number;
  latency_ms?: number; up: number; down: number; verdicts?: EventVerdict[]; feedback?: EventFeedback[];
}
export interface EventUsage { prompt_tokens: number; completion_tokens: number; total_tokens: number }
export interface EventVerdict { assertion: string; status: Status; score?: number; reason?: string; judge?: string; set?: string; at: string }
export interface EventFeedback { user?: string; value: number; comment?: string; time: string }
export interface Conversation { conversation: string; items: TrafficEvent[]; next?: string }
export interface Agent { name: string; first: string; last: string; events: number }
export interface AgentPrompt { hash: string; text?: string; first: string; last: string; events: number }
