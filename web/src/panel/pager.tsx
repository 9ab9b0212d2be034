// Pages of a list, so that the page stays light for a list of any length.
import { count } from '../number';

// pageFrom returns the index of the first item on a page. A page that no longer exists
// becomes the last.
export const pageFrom = (of: number, page: number, size: number): number => Math.max(0, Math.min(page, Math.ceil(of / size) - 1)) * size;

export function Pager({ of, from, size, turn }: { of: number; from: number; size: number; turn: (page: number) => void }) {
  const page = from / size, end = from + size >= of;
  return of > size && (
    <div class="actions">
      <button disabled={page === 0} onClick={() => turn(page - 1)}>Previous</button>
      <span class="num muted">{count(from + 1)}–{count(end ? of : from + size)} of {count(of)}</span>
      <button disabled={end} onClick={() => turn(page + 1)}>Next</button>
    </div>
  );
}
