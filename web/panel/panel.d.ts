// Types of <proviso-panel>. docs/panel.md says how to use it.

export type Status = 'pass' | 'fail' | 'error' | 'skip' | 'running';

/** A quote of the output. start and end are offsets in UTF-16 units, as JavaScript counts. */
export interface Mark { quote: string; start: number; end: number }

export interface CriterionResult {
  criterion: string; pass: boolean; reasoning: string; status: Status;
  cannot_tell?: boolean; evidence?: string[]; note?: string;
}

/** An entry of results[] of POST /v1/evaluate. status is read; pass counts where it is absent. */
export interface Result {
  id: string; pass: boolean; reasoning: string; status?: Status;
  index?: number; instruction?: string; score?: number;
  criteria?: CriterionResult[]; evidence?: string[]; marks?: Mark[];
  judge?: string; cached?: boolean; cost?: number;
}

/** What POST /v1/evaluate returns. */
export interface Evaluation {
  results: Result[]; score?: number | null; passed?: number; failed?: number; total?: number; skipped?: number;
  status?: Status; threshold?: number; passed_threshold?: boolean;
}

/** A criterion: a text, or a shipped template with its parameters. */
export type Criterion = string | { text?: string; template?: string; params?: Record<string, unknown> };

/** An assertion, as requests and assertion sets have it. Members that the panel does not know are kept. */
export interface Assertion { id: string; instruction?: string; criteria?: Criterion[]; [member: string]: unknown }

/** A finding about the wording of an assertion: pointer is /assertions/0/criteria/1, or /assertions/0. */
export interface Finding { rule?: string; pointer?: string; message: string; suggestion?: string }

export type Lint = (assertions: Assertion[], signal: AbortSignal) => Finding[] | Promise<Finding[]>;

export interface Token { token: string; expires?: string }

export type Label = 'pass' | 'fail' | 'unsure';

export interface EvidenceDetail { assertion: string; start: number; end: number }

/** label is null if the person takes the label back. */
export interface LabelDetail { assertion: string; label: Label | null; note: string }

export interface ChangeDetail { assertions: Assertion[] }

/** The event proviso-label. The panel shows "Recorded" once the promise that the host gives
 *  to waitUntil is fulfilled; if it is rejected, the panel keeps the text and offers to retry. */
export interface LabelEvent extends CustomEvent<LabelDetail> { waitUntil(saved: Promise<unknown>): void }

export interface ProvisoPanelElement extends HTMLElement {
  /** Results to show, if the host has them. A response of /v1/evaluate, or its results. */
  results: Result[] | Evaluation | null;
  /** The text that was judged. Quotes are looked up in it; without it, they cannot be opened. */
  output: string | null;
  /** Connected mode: returns a new token of POST /v1/panel-tokens, made by the host's server. */
  getToken: (() => Promise<Token>) | null;
  /** Connected mode: the id of POST /v1/evaluations. Attribute evaluation. */
  evaluation: string | null;
  /** Address of proviso. Attribute endpoint; by default the origin that the script came from. */
  endpoint: string;
  /** Attribute mode; "view" by default. */
  mode: 'view' | 'edit';
  /** Attribute theme; by default the panel has the color-scheme of the page around it. */
  theme: 'light' | 'dark' | '';
  /** mode="edit": what is edited; reading it gives what a person has made of it. */
  assertions: Assertion[];
  /** mode="edit": a function, or the address that takes POST {assertions}. */
  lint: Lint | string | null;
}

export interface ProvisoPanelEvents {
  'proviso-evidence': CustomEvent<EvidenceDetail>;
  'proviso-label': LabelEvent;
  'proviso-change': CustomEvent<ChangeDetail>;
}

declare global {
  interface HTMLElementTagNameMap { 'proviso-panel': ProvisoPanelElement }
  interface HTMLElementEventMap extends ProvisoPanelEvents {}
}
