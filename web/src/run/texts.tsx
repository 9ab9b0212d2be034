// Texts of a case beside its output.
import { useState } from 'preact/hooks';
import { plural } from '../number';
import { Text, plain, shorten } from '../text';

// Vars are the variables of a case.
export function Vars({ of }: { of: [string, string][] }) {
  return (
    <section class="vars" aria-label="Variables">
      <h3>Variables</h3>
      <dl>{of.slice(0, 40).map(([name, value]) => <div key={name}><dt>{plain(shorten(name, 80))}</dt><dd><Long text={value} first={600} /></dd></div>)}</dl>
      {of.length > 40 && <p class="muted">and {plural(of.length - 40, 'more variable')}</p>}
    </section>
  );
}

// Long shows the beginning of a text, and the rest on demand.
export function Long({ text, first = 6000 }: { text: string; first?: number }) {
  const [shown, show] = useState(first);
  return <><Text of={shorten(text, shown)} />{text.length > shown && shown < 400_000 && <> <button type="button" class="link" onClick={() => show(shown * 6)}>Show more</button></>}</>;
}
