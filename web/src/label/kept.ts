// Data that must survive a reload: notes, unsent labels, skipped items, and the lease of
// the shown item. It is kept for the tab and ends with it, so that no label is sent in the
// name of the next person who logs in.
import type { SkippedItem } from '../api';
import type { Draft, Pending } from './desk';

const most = 200;         // drafts per queue
const mostSkipped = 1000; // items; the server's limit

export class Kept {
  lease = '';
  outbox: Pending[] = [];
  drafts: Record<string, Draft> = {};
  skipped: SkippedItem[] = [];
  private readonly name: string;

  constructor(queue: string) {
    this.name = 'proviso.label/' + queue;
    try {
      const text = sessionStorage.getItem(this.name);
      if (text) Object.assign(this, JSON.parse(text) as object);
    } catch { /* It is kept until the page is closed. */ }
  }

  hold(lease: string): void { this.lease = lease; this.save(); }
  replace(outbox: Pending[]): void { this.outbox = outbox; this.save(); }

  skip(skipped: SkippedItem[]): void { this.skipped = skipped.slice(-mostSkipped); this.save(); }

  draft(key: string, draft: Draft | undefined): void {
    delete this.drafts[key];
    if (draft) this.drafts[key] = draft;
    const keys = Object.keys(this.drafts);
    for (const old of keys.slice(0, Math.max(0, keys.length - most))) delete this.drafts[old];
    this.save();
  }

  private save(): void {
    try {
      if (!this.lease && !this.outbox.length && !this.skipped.length && !Object.keys(this.drafts).length) sessionStorage.removeItem(this.name);
      else sessionStorage.setItem(this.name, JSON.stringify({ lease: this.lease, outbox: this.outbox, drafts: this.drafts, skipped: this.skipped }));
    } catch { /* Full, or not allowed: it is kept until the page is closed. */ }
  }
}
