// move returns the target of a key press in a grid, as [row, column]; row -1 is the header
// row. It is undefined for keys that do not move.
export function move(key: string, ctrl: boolean, row: number, column: number, rows: number, columns: number, page: number): [number, number] | undefined {
  const last = rows - 1, right = columns - 1;
  const at = (r: number, c: number): [number, number] => [Math.max(-1, Math.min(last, r)), Math.max(0, Math.min(right, c))];
  switch (key) {
    case 'ArrowDown': return ctrl ? at(last, column) : at(row + 1, column);
    case 'ArrowUp': return ctrl ? at(0, column) : at(row - 1, column);
    case 'ArrowRight': return at(row, ctrl ? right : column + 1);
    case 'ArrowLeft': return at(row, ctrl ? 0 : column - 1);
    case 'Home': return ctrl ? at(0, 0) : at(row, 0);
    case 'End': return ctrl ? at(last, right) : at(row, right);
    case 'PageDown': return at(row + page, column);
    case 'PageUp': return at(Math.max(0, row - page), column);
    default: return undefined;
  }
}
