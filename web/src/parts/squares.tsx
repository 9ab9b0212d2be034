import { ERROR, FAIL, PASS, SKIP } from '../api';

const step = 10;

// Squares draws one sign per verdict, in fixed order: a dot for a pass, a solid block for a
// fail, a dashed box for an error, a line for a skip. It uses at most four nodes for any
// number of verdicts. The caller describes it in words.
export function Squares({ of, most }: { of: Uint8Array; most: number }) {
  const n = Math.min(of.length, most);
  let quiet = '', blocks = '', boxes = '';
  for (let i = 0; i < n; i++) {
    const x = i * step, s = of[i];
    if (s === PASS) quiet += `M${x + 3} 4h3v3h-3z`;
    else if (s === FAIL) blocks += `M${x} 1h9v9h-9z`;
    else if (s === ERROR) boxes += `M${x + 1} 2h7v7h-7z`;
    else if (s === SKIP) quiet += `M${x + 1} 5h7v1h-7z`;
  }
  const rest = of.length - n;
  let hidden = 0;
  for (let i = n; i < of.length; i++) if (of[i] === FAIL || of[i] === ERROR) hidden++;
  return (
    <>
      <svg class="squares" width={n * step} height="11" aria-hidden="true">
        {quiet && <path class="quiet" d={quiet} />}
        {blocks && <path class="blocks" d={blocks} />}
        {boxes && <path class="boxes" d={boxes} />}
      </svg>
      {rest > 0 && <span class={hidden ? 'rest bad' : 'rest'} aria-hidden="true" title={hidden ? `${rest} more, ${hidden} of them did not pass` : `${rest} more`}>+{rest}</span>}
    </>
  );
}

// squareAt returns the index of the verdict at x pixels.
export const squareAt = (x: number): number => Math.floor(x / step);
