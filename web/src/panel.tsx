// <proviso-panel>: verdicts beside an agent's answer, in a third-party page. The page gives
// the panel results, or a token for one evaluation. The panel sends events for what a
// person points at, labels and edits. See docs/panel.md.
import { render } from 'preact';
import type { Assertion, Evaluation, Finding, Label, Lint, ProvisoPanelElement, Result, Token } from '../panel/panel';
import { Connection, findings, messageOf } from './panel/connection';
import { Edit } from './panel/edit';
import { EditView } from './panel/editview';
import css from './panel/panel.css';
import { form } from './panel/row';
import { State, nonce, type Draft, type Row } from './panel/state';
import { View, summary } from './panel/view';

const attributes = ['mode', 'endpoint', 'evaluation', 'theme'] as const;
const properties = [...attributes, 'results', 'output', 'getToken', 'assertions', 'lint'] as const;
const pace = 2000; // milliseconds between two announcements to a screen reader

let sheet: CSSStyleSheet | undefined;

// Without a document, as in a server that renders pages, importing the panel does nothing.
const Base = globalThis.HTMLElement ?? (class {} as typeof HTMLElement);

class ProvisoPanel extends Base implements ProvisoPanelElement {
  #root = this.attachShadow({ mode: 'open' });
  #box = document.createElement('div');
  #state = new State(() => this.#draw(), () => !!this.#root.activeElement || this.#state.open.length > 0);
  #edit = new Edit(() => this.#draw(), (assertions) => this.#tell('proviso-change', { assertions }), () => this.#linter());
  #connection = new Connection(() => ({ endpoint: this.endpoint, evaluation: this.evaluation!, getToken: this.#getToken! }), this.#state);
  #stop: AbortController | undefined;
  #followed = ''; // the source of the verdicts
  #shown = '';    // the subject of the verdicts
  #frame = 0;
  #said = { at: 0, text: '', timer: 0 };

  #results: ProvisoPanelElement['results'] = null;
  #output: string | null = null;
  #getToken: ProvisoPanelElement['getToken'] = null;
  #evaluation: string | null = null;
  #endpoint = '';
  #mode: 'view' | 'edit' = 'view';
  #theme: 'light' | 'dark' | '' = '';
  #lint: Lint | string | null = null;

  static observedAttributes: readonly string[] = attributes;

  constructor() {
    super();
    if (!sheet) (sheet = new CSSStyleSheet()).replaceSync(css);
    this.#root.adoptedStyleSheets = [sheet];
    this.#root.append(this.#box);
  }

  get results() { return this.#results; }
  set results(to: Result[] | Evaluation | null) {
    if (!this.#followed) this.#state.feed(to); // otherwise the stream feeds it
    this.#results = to;
  }
  get output() { return this.#output; }
  set output(to: string | null) { this.#output = to ?? null; this.#draw(); }
  get getToken() { return this.#getToken; }
  set getToken(to: (() => Promise<Token>) | null) { this.#getToken = to; this.#later(); }
  get evaluation() { return this.#evaluation; }
  set evaluation(to: string | null) { this.#evaluation = to; this.#later(); }
  get endpoint() { return this.#endpoint || ownOrigin(); }
  set endpoint(to: string) { this.#endpoint = to; this.#later(); }
  get mode() { return this.#mode; }
  set mode(to: 'view' | 'edit') { this.#mode = to; this.#later(); }
  get theme() { return this.#theme; }
  set theme(to: 'light' | 'dark' | '') { this.#theme = to; this.#draw(); }
  get assertions() { return this.#edit.value(); }
  set assertions(to: Assertion[]) { this.#edit.take(to); }
  get lint() { return this.#lint; }
  set lint(to: Lint | string | null) { this.#lint = to; this.#later(); }

  attributeChangedCallback(name: (typeof attributes)[number], _: string | null, to: string | null): void { (this as Record<string, unknown>)[name] = to ?? ''; }

  // connectedCallback also runs when the panel is moved: the stream and all texts stay.
  connectedCallback(): void {
    for (const name of properties) { // properties set before the script was loaded
      if (!Object.hasOwn(this, name)) continue;
      const value: unknown = this[name];
      delete (this as Record<string, unknown>)[name];
      (this as Record<string, unknown>)[name] = value;
    }
    this.#later();
  }

  disconnectedCallback(): void { this.#later(); }

  // later waits until the page has set all properties, and has finished moving the panel.
  #later(): void {
    queueMicrotask(() => this.#settle());
    this.#draw();
  }

  #settle(): void {
    const wanted = this.isConnected && this.#evaluation && this.#getToken ? this.endpoint + ' ' + this.#evaluation : '';
    if (wanted !== this.#followed) {
      this.#stop?.abort();
      this.#followed = wanted;
      if (wanted) {
        if (wanted !== this.#shown) { // not if the panel was only moved
          this.#connection.forget();
          this.#state.reset('waiting');
        }
        this.#shown = wanted;
        if (this.#state.phase !== 'ended') this.#follow();
      } else if (this.isConnected) {
        this.#shown = '';
        this.#state.feed(this.#results);
      }
    }
    if (!this.isConnected) this.#edit.end();
    else if (this.#mode === 'edit' && !this.#edit.checked) this.#edit.later();
  }

  #follow(): void {
    this.#stop?.abort();
    this.#stop = new AbortController();
    void this.#connection.follow(this.#stop.signal);
  }

  #tell(name: string, detail: unknown): Event {
    const e = new CustomEvent(name, { detail, bubbles: true, composed: true });
    this.dispatchEvent(e);
    return e;
  }

  // store sends a label to proviso or, in a panel fed by the host, to the host.
  async #store(row: Row, draft: Draft, label: Label | null): Promise<void> {
    const detail = { assertion: row.id, label, note: draft.note };
    if (this.#getToken && this.#evaluation) {
      if (label) draft.saved = await this.#connection.label(row.id, draft);
      else if (draft.saved) await this.#connection.undo(draft.saved);
      this.#tell('proviso-label', detail);
      return;
    }
    const waits: Promise<unknown>[] = [];
    const e = Object.assign(new CustomEvent('proviso-label', { detail, bubbles: true, composed: true }), { waitUntil: (p: Promise<unknown>) => { waits.push(Promise.resolve(p)); } });
    this.dispatchEvent(e);
    await Promise.all(waits);
  }

  // save stores a label, or deletes it if label is null.
  async #save(row: Row, d: Draft, label: Label | null): Promise<void> {
    this.#change(d, { state: label ? 'sending' : 'undoing', problem: '' });
    try {
      await this.#store(row, d, label);
      this.#change(d, label ? { state: 'saved' } : { state: 'typing', saved: undefined, nonce: nonce() }); // the text stays
      this.#focus(form(row), label ? ' button' : ' :checked');
      this.#say(label ? 'Label recorded.' : 'Label taken back.');
    } catch (e) {
      this.#change(d, { state: label ? 'failed' : 'saved', problem: `The label could not be ${label ? 'stored' : 'taken back'}: ${messageOf(e)}.` });
    }
  }

  // focus moves the focus to the replacement of the part that has it, or that had it until
  // it was disabled. It does nothing if the person has moved the focus elsewhere.
  #focus(part: string, to: string): void {
    const at = this.#root.activeElement;
    if (at ? at.closest(part) : document.activeElement === document.body) this.#state.focus = part + to;
  }

  #change(d: Draft, to: Partial<Draft>): void {
    Object.assign(d, to);
    this.#draw();
  }

  #linter(): Lint | undefined {
    const lint = this.#lint;
    if (typeof lint === 'function') return lint;
    if (lint) return async (assertions, signal): Promise<Finding[]> => findings(await fetch(lint, { method: 'POST', signal, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ assertions }) }));
    return this.#getToken ? (assertions, signal) => this.#connection.lint(assertions, signal) : undefined;
  }

  // draw draws the panel in the next frame, once for all changes until then.
  #draw(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      if (this.#mode !== 'edit') this.#say(summary(this.#state));
      render(
        <div class={'panel ' + this.#theme} role="group" aria-label={this.#mode === 'edit' ? 'Assertions' : 'Verdicts'}>
          <span class="hidden" role="status">{this.#said.text}</span>
          {this.#mode === 'edit' ? <EditView edit={this.#edit} /> : <View state={this.#state} actions={this.#actions} />}
        </div>, this.#box);
      if (this.#state.focus) this.#root.querySelector<HTMLElement>(this.#state.focus)?.focus();
      this.#state.focus = '';
    });
  }

  // say announces the latest message to a screen reader, at most every two seconds.
  #say(text: string): void {
    const said = this.#said;
    clearTimeout(said.timer);
    if (text === said.text) return;
    const wait = said.at + pace - Date.now();
    if (wait > 0) said.timer = setTimeout(() => this.#say(text), wait) as unknown as number;
    else {
      Object.assign(said, { at: Date.now(), text });
      this.#draw();
    }
  }

  get #actions() {
    return {
      output: this.#output,
      evidence: (row: Row, start: number, end: number) => { this.#tell('proviso-evidence', { assertion: row.id, start, end }); },
      save: (row: Row, d: Draft, label: Label | null) => void this.#save(row, d, label),
      retry: () => { this.#state.change({ phase: 'waiting', problem: '' }); this.#follow(); },
    };
  }
}

// ownOrigin is the origin of the script: proviso's, unless the page hosts a copy of it.
function ownOrigin(): string {
  const { origin } = new URL(import.meta.url);
  return origin === 'null' ? '' : origin;
}

if (globalThis.customElements && !customElements.get('proviso-panel')) customElements.define('proviso-panel', ProvisoPanel);
