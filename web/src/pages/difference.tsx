// The difference of two texts of a prompt.
import { useMemo } from 'preact/hooks';
import { Text } from '../text';
import { wordDiff } from './diff';
import { Words } from './pair';

export function Difference({ from, to }: { from: string; to: string }) {
  const parts = useMemo(() => wordDiff(from, to), [from, to]);
  if (from === to) return <p class="muted">Choose two different versions.</p>;
  return (
    <div class="outtext prompt" tabIndex={0} role="region" aria-label="Difference by words">
      {parts ? <Words parts={parts} /> : <><p class="muted">The texts are too long or too different to compare word by word. The newer one is:</p><Text of={to} /></>}
    </div>
  );
}
