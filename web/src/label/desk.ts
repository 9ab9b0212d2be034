// A person's work on a queue: the shown item, the next one, which is loaded ahead, and
// labels that are not sent yet. The page, which shows it, is separate.
import type { Label, LabelAgreement, LabelItem, Lease, NewLabel, Place, Problem, Said } from '../api';
import { Failure, again } from '../load';
import { add, giveBack, hold, itemOf, keyOf, newKey, own, remove, renew, take } from './api';
import { Kept } from './kept';

// Held is an item to label. Without a lease, others may get it as well.
export interface Held { item: LabelItem; why: string; lease?: string; until: number; lost: boolean }

// Done is a label by the person. Lists of them are newest first. The item is missing until it is
// loaded.
export interface Done { label: Label; item?: LabelItem }

// Draft is the note and the evidence entered for an item.
export interface Draft { note: string; evidence: Place[] }

// Pending is a label that the server has not confirmed.
export interface Pending { body: NewLabel; key: string; problem?: Problem }

export const deepest = 10; // maximum labels that can be undone
const page = 50;           // labels per request

const problemOf = (e: unknown): Problem => (e instanceof Failure ? e.problem : { type: 'about:blank', title: 'The server does not reply', status: 0, detail: 'The server does not reply.' });

// passing reports whether a retry may succeed: the server is unreachable or busy, or the
// session has ended.
const passing = (status: number): boolean => status === 0 || status === 401 || status === 408 || status === 409 || status === 429 || status >= 500;

export class Desk {
  held: Held | undefined;
  phase: 'loading' | 'item' | 'none' | 'failed' = 'loading';
  problem: Problem | undefined;      // why no item could be loaded
  refused: Problem | undefined;      // why a label was refused
  elsewhere: Said | undefined;       // the item was labelled in another window
  done: Done[] = [];
  more: string | undefined;          // where the next page of done begins
  agreement: LabelAgreement | undefined;
  said = '';                         // the last action, for people
  busy = false;                      // a label or an undo is in flight
  private ahead: Held[] = [];
  private fetching: Promise<void> | undefined;
  private before = 0;                // items that the person labelled before the page opened, or in another window
  private total = 0;                 // items that the person labelled or may label
  private sent = 0;                  // labels since then, minus the undone ones
  private undone: { label: Label; item?: LabelItem; before?: Label }[] = [];
  private readonly moved = new Map<string, string>(); // ids of replaced labels, to the ids of their replacements
  private listed = false;            // labels from before the page opened are loaded
  private timer = 0;
  private wait = 2000;
  private closed = false;
  private readonly kept: Kept;
  private readonly tabs: BroadcastChannel | undefined;

  constructor(readonly queue: string, private readonly changed: () => void) {
    this.kept = new Kept(queue);
    if (typeof BroadcastChannel === 'function') {
      this.tabs = new BroadcastChannel('proviso-labels');
      this.tabs.onmessage = (e: MessageEvent) => this.heardOf(e.data);
    }
    again.add(this.flush);
  }

  get outbox(): Pending[] { return this.kept.outbox; }
  get skipped(): number { return this.kept.skipped.length; }
  get left(): number { return Math.max(0, this.total - this.mine); }
  get mine(): number { return Math.max(0, this.before + this.sent); }
  get undos(): number { return this.undone.length; }
  // idNow returns the current id of a label: that of its replacement, or the same id.
  idNow(id: string): string {
    for (let now = this.moved.get(id); now; now = this.moved.get(id)) id = now;
    return id;
  }
  pending(key: string): Pending | undefined { return this.outbox.find((p) => keyOf(p.body) === key); }

  // draft returns the text entered for an item. If there is none, it comes from the item's
  // label.
  draft(key: string, done?: Done): Draft { return this.kept.drafts[key] ?? { note: done?.label.note ?? '', evidence: done?.label.evidence ?? [] }; }

  write(key: string, draft: Draft, done?: Done): void {
    this.kept.draft(key, draft.note || draft.evidence.length || done ? draft : undefined);
    this.changed();
    this.touch();
  }

  // start shows the item that was open before a reload, or the next one. It also sends
  // unsent labels and loads the labels so far.
  async start(): Promise<void> {
    if (this.outbox.length) await this.flush(); // otherwise the server would return an item that is already answered
    const lease = this.kept.lease;
    if (lease) {
      const l = await renew(this.queue, lease).catch(() => undefined);
      if (l && !this.closed) this.show(this.heldOf(l));
    }
    if (!this.held && !this.closed) await this.advance();
    await this.older().catch(() => undefined);
  }

  // stop gives the items back, so that others do not wait for them.
  stop(): void {
    this.leave();
    if (this.held?.lease) giveBack(this.queue, this.held.lease);
    this.kept.hold('');
    this.closed = true;
    clearTimeout(this.timer);
    this.tabs?.close();
    again.delete(this.flush);
  }

  // leave gives back the item that is not shown. The page may be closing, or may come back.
  leave(): void {
    for (const h of this.ahead) if (h.lease) giveBack(this.queue, h.lease);
    this.ahead = this.ahead.filter((h) => !h.lease);
  }

  // older loads more of the person's labels.
  async older(): Promise<void> {
    const list = await own({ queue: this.queue, limit: String(page), ...(this.more ? { after: this.more } : {}) });
    const known = new Set(this.done.map((d) => d.label.id));
    const fresh = list.items.filter((l) => !known.has(l.id) && (l.run || l.event)).map((label) => ({ label }));
    if (!this.listed) this.undone = [...fresh.slice(0, deepest).reverse(), ...this.undone].slice(-deepest);
    this.listed = true;
    this.done = [...this.done, ...fresh];
    this.more = list.next;
    this.changed();
  }

  // answer labels an item: the shown one or, with done, one that was labelled before.
  answer(item: LabelItem, said: Said, done?: Done): void {
    const key = keyOf(item), { note, evidence } = this.draft(key, done);
    const waiting = this.pending(key);
    if (this.busy || (waiting && waiting.body.label === said)) { void this.flush(); return; }
    const body: NewLabel = { ...(item.event ? { event: item.event } : { run: item.run, index: item.index }), assertion: item.assertion, label: said, queue: this.queue };
    if (note.trim()) body.note = note;
    if (evidence.length) body.evidence = evidence;
    if (!done && this.held?.lease && keyOf(this.held.item) === key) body.lease = this.held.lease;
    this.refused = undefined;
    this.said = '';
    this.kept.replace(this.outbox.filter((p) => p !== waiting).concat({ body, key: newKey() }));
    this.changed();
    void this.flush();
  }

  // flush sends the unsent labels in order. If the server is not available, it is called
  // again later.
  readonly flush = async (): Promise<void> => {
    clearTimeout(this.timer);
    if (this.busy || !this.outbox.length) return;
    this.busy = true;
    this.changed();
    while (this.outbox.length && !this.closed) {
      const first = this.outbox[0]!;
      try {
        const label = await add(first.body, first.key);
        this.wait = 2000;
        this.kept.replace(this.outbox.filter((p) => p !== first));
        this.busy = false;
        this.taken(label);
        this.busy = this.outbox.length > 0;
      } catch (e) {
        const problem = problemOf(e);
        if (passing(problem.status)) {
          first.problem = problem;
          this.kept.replace(this.outbox);
          this.timer = setTimeout(() => void this.flush(), this.wait) as unknown as number;
          this.wait = Math.min(this.wait * 2, 15_000);
          break;
        }
        this.kept.replace(this.outbox.filter((p) => p !== first));
        this.refused = problem;
      }
    }
    this.busy = false;
    this.changed();
  };

  // taken continues after the server has stored a label.
  private taken(label: Label): void {
    const key = keyOf(label), old = this.done.find((d) => keyOf(d.label) === key);
    const shown = this.held && keyOf(this.held.item) === key ? this.held : undefined;
    const item = old?.item ?? shown?.item;
    this.undone = [...this.undone, { label, ...(item ? { item } : {}), ...(old ? { before: old.label } : {}) }].slice(-deepest);
    this.done = [{ label, ...(item ? { item } : {}) }, ...this.done.filter((d) => d !== old)];
    if (old) this.moved.set(old.label.id, label.id);
    else this.sent++;
    this.kept.draft(key, undefined);
    this.tabs?.postMessage({ key, said: label.label });
    this.said = told(label, old !== undefined);
    if (shown) void this.advance();
  }

  // advance shows the next item, which was loaded ahead to avoid a wait.
  async advance(): Promise<void> {
    this.held = undefined;
    this.elsewhere = undefined;
    this.refused = undefined;
    for (;;) {
      const next = this.ahead.shift();
      if (next && (!next.lease || next.until - Date.now() > 5000)) return this.show(next);
      if (next?.lease) {
        const l = await renew(this.queue, next.lease).catch(() => undefined);
        if (l) return this.show(this.heldOf(l));
        continue;
      }
      this.phase = 'loading';
      this.changed();
      try {
        await this.fetch();
      } catch (e) {
        this.phase = 'failed';
        this.problem = problemOf(e);
        this.kept.hold('');
        this.changed();
        return;
      }
      if (this.closed) return;
      if (!this.ahead.length) {
        this.phase = 'none';
        this.kept.hold('');
        this.changed();
        return;
      }
    }
  }

  private show(held: Held): void {
    this.held = held;
    this.phase = 'item';
    this.problem = undefined;
    this.kept.hold(held.lease ?? '');
    this.changed();
    if (!this.ahead.length) this.fetch().catch(() => undefined);
  }

  // fetch loads one item ahead. Concurrent calls load only one.
  private fetch(resume = false): Promise<void> {
    return (this.fetching ??= take(this.queue, this.kept.skipped, resume).then((l) => {
      if (!l) return;
      if (this.closed) return giveBack(this.queue, l.lease);
      this.ahead.push(this.heldOf(l));
    }).finally(() => { this.fetching = undefined; }));
  }

  private heldOf(l: Lease): Held {
    this.agreement = l.agreement;
    this.total = l.left + l.mine;
    if (!this.busy) this.before = Math.max(this.before, l.mine - this.sent); // otherwise the label in flight may already be counted
    return { item: l.item, why: l.why, lease: l.lease, until: Date.now() + hold * 1000, lost: false };
  }

  // skip gives the item back, so that others may label it, and postpones it.
  skip(): void {
    if (!this.held || this.busy) return;
    const { item, lease } = this.held;
    this.kept.skip([...this.kept.skipped, { ...(item.event ? { event: item.event } : { index: item.index }), assertion: item.assertion }]);
    if (lease) giveBack(this.queue, lease);
    this.said = 'Skipped. The item comes back later.';
    void this.advance();
  }

  // back shows the skipped items that nobody has labelled meanwhile.
  back(): void {
    this.kept.skip([]);
    void this.advance();
  }

  // resume requests an item that the person left open in another window.
  async resume(): Promise<void> {
    await this.fetch(true).catch(() => undefined);
    await this.advance();
  }

  // undo removes the last label, and shows its item with the entered text. If the label had
  // replaced another one, it returns that one, which counts again.
  async undo(): Promise<Label | undefined> {
    const last = this.undone.at(-1);
    if (!last || this.busy) return undefined;
    this.busy = true;
    this.changed();
    try {
      await remove(last.label.id).catch((e: unknown) => { if (problemOf(e).status !== 404) throw e; });
    } catch (e) {
      this.busy = false;
      this.said = 'Not undone: ' + problemOf(e).detail;
      this.changed();
      return undefined;
    }
    this.undone.pop();
    this.busy = false;
    this.kept.draft(keyOf(last.label), { note: last.label.note ?? '', evidence: last.label.evidence ?? [] });
    this.said = 'Undone: your label ' + words[last.label.label] + ' is removed.';
    const at = this.done.findIndex((d) => d.label.id === last.label.id);
    if (last.before) {
      this.moved.delete(last.before.id);
      if (at >= 0) this.done[at] = { ...this.done[at]!, label: last.before };
      this.changed();
      return last.before;
    }
    this.done = this.done.filter((_, i) => i !== at);
    this.sent--;
    const item = last.item ?? (await itemOf(last.label).catch(() => undefined));
    if (item) {
      if (this.held) this.ahead.unshift(this.held);
      this.elsewhere = undefined;
      this.show({ item, why: 'you removed your label', until: Infinity, lost: false });
    } else if (!this.held) {
      await this.advance();
    }
    this.changed();
    return undefined;
  }

  // touch renews the leases of the item in work and of the next one.
  touch(): void {
    for (const h of [this.held, ...this.ahead]) {
      if (!h?.lease || h.lost || h.until - Date.now() > (hold * 1000) / 2) continue;
      const until = h.until;
      h.until = Date.now() + hold * 1000; // one request at a time
      renew(this.queue, h.lease).then(() => this.changed(), (e: unknown) => {
        h.until = until;
        if (problemOf(e).status === 404) { h.lost = true; void this.check(); }
        this.changed();
      });
    }
  }

  // check checks whether the person labelled the item in another browser.
  async check(): Promise<void> {
    const item = this.held?.item;
    if (!item) return;
    const list = await own({ ...(item.event ? { event: item.event } : { run: item.run, index: String(item.index) }), ...(item.assertion ? { assertion: item.assertion } : {}) }).catch(() => undefined);
    const label = list?.items.find((l) => l.assertion === item.assertion);
    if (label && this.held?.item === item && !this.pending(keyOf(item))) this.elsewhere = label.label;
    this.changed();
  }

  // heardOf handles a label from another window of this browser.
  private heardOf(data: { key?: unknown; said?: Said }): void {
    if (typeof data?.key !== 'string') return;
    const of = (h: Held) => keyOf(h.item) === data.key;
    this.ahead = this.ahead.filter((h) => !of(h));
    if (this.held && of(this.held)) this.elsewhere = data.said;
    this.changed();
  }

  // item loads the subject of a label, to look at it again.
  async item(d: Done): Promise<LabelItem> {
    d.item ??= await itemOf(d.label);
    return d.item;
  }
}

export const words: Record<Said, string> = { pass: 'Pass', fail: 'Fail', unsure: 'Can’t tell' };

// told returns the message after a label: the label, and the judge's verdict.
function told(l: Label, changed: boolean): string {
  const what = (changed ? 'Changed to ' : 'Saved: ') + words[l.label] + '.';
  if (!l.judged) return what;
  const agree = l.label === 'unsure' ? '' : l.judged === l.label ? ' You agree.' : ' You differ.';
  return what + (l.judge ? ' The judge said ' : ' The check said ') + l.judged + '.' + agree;
}
