// How far people agree with the judge, and with each other.
import type { Kappa, LabelAgreement } from '../api';
import { count, wilson } from '../number';
import { kappaOf } from '../pages/alignment';
import { rateWithInterval } from '../pages/figures';
import { Table, type Col } from '../pages/table';
import { plain } from '../text';

// shareText is the number of labels on which two raters agree, with the 95 % interval of
// the share.
function shareText(k: Kappa): string {
  if (!k.n) return 'nothing to compare yet';
  return `${count(k.agree)} of ${count(k.n)}, ${rateWithInterval({ value: k.agree / k.n, ...wilson(k.agree, k.n) })}`;
}

// kappaText is Cohen's kappa with its 95 % interval.
const kappaText = (k: Kappa): string => kappaOf({ value: k.kappa, low: k.low, high: k.high });

// AgreementLine is the agreement in one line, below the item.
export function AgreementLine({ a }: { a: LabelAgreement | undefined }) {
  if (!a) return null;
  const line = (name: string, k: Kappa) => k.n > 0 && <span>{name} {count(k.agree)} of {count(k.n)}{k.kappa !== null && <> · kappa {kappaText(k)}</>}</span>;
  return <p class="agreeing muted num">{line('With the judge', a.with_judge)}{line('Between people', a.between_people)}</p>;
}

interface Row extends Kappa { name: string }

const cols = (first: string): Col<Row>[] => [
  { label: first, wide: true, cell: (r) => plain(r.name) },
  { label: 'Agreement', cell: (r) => <span class="num">{shareText(r)}</span> },
  { label: 'Kappa', cell: (r) => <span class="num">{kappaText(r)}</span> },
];

// AgreementTables has all figures. people names the people of a listed pair.
export function AgreementTables({ a, people }: { a: LabelAgreement; people: (id: string) => string }) {
  const judge: Row[] = [{ name: 'All assertions', ...a.with_judge }, ...a.assertions.map((x) => ({ ...x, name: x.assertion || 'the whole output' }))];
  const pairs: Row[] = a.between_people.pairs.map((p) => ({ ...p, name: p.people.map(people).join(' and ') }));
  return (
    <div class="two">
      <section aria-labelledby="with-judge"><h3 id="with-judge">People and the judge</h3>
        {a.with_judge.n ? <Table caption="Agreement of people with the judge" cols={cols('Assertion')} rows={judge} id={(r) => r.name} /> : <p class="muted">Nobody labelled what a judge decided yet.</p>}
      </section>
      <section aria-labelledby="between"><h3 id="between">People and each other</h3>
        {a.between_people.n ? <Table caption="Agreement between people" cols={cols('People')} rows={pairs.length > 1 ? [{ name: 'All pairs', ...a.between_people }, ...pairs] : pairs} id={(r) => r.name} />
          : <p class="muted">No item has labels of two people yet. Let two people label each item to see how clear the question is.</p>}
      </section>
      <p class="muted">“Can’t tell” does not count. In parentheses: the 95 % interval. Kappa is 1 if all agree, and 0 if they agree no more often than by chance.</p>
    </div>
  );
}
