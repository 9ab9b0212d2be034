import type { ComponentChildren } from 'preact';

export interface Col<T> { label: string; head?: ComponentChildren; num?: boolean; wide?: boolean; cell: (row: T) => ComponentChildren }

// Table is a table that becomes a list of cards on narrow screens, where each cell shows
// its column's label. The first column names the row.
export function Table<T>({ caption, cols, rows, id }: { caption: string; cols: Col<T>[]; rows: T[]; id: (row: T) => string }) {
  const kind = (c: Col<T>) => (c.num ? 'num right' : c.wide ? 'colwide' : undefined);
  return (
    <table class="rows" role="table">
      <caption class="hidden">{caption}</caption>
      <thead role="rowgroup"><tr role="row">{cols.map((c) => <th key={c.label} role="columnheader" scope="col" class={kind(c)}>{c.head ?? c.label}</th>)}</tr></thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={id(row)} role="row">
            {cols.map((c, i) => {
              const content = c.cell(row);
              const props = { class: kind(c), 'data-label': content == null || content === '' || content === false ? undefined : c.label };
              return i === 0 ? <th key={c.label} role="rowheader" scope="row" {...props}>{content}</th> : <td key={c.label} role="cell" {...props}>{content}</td>;
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
