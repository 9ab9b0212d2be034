// Which instructions of a prompt have assertions. The server assigns assertions to
// sentences; this page marks them.
import type { ComponentChildren } from 'preact';
import type { Prompt } from '../api';
import { plural } from '../number';
import { plain, shorten, visible } from '../text';
import { address } from '../url';

export function Coverage({ p }: { p: Prompt }) {
  const text = p.versions[0]?.text ?? '';
  const list = p.coverage.filter((c) => c.start >= 0 && c.end > c.start && c.end <= text.length).sort((a, b) => a.start - b.start);
  const open = list.filter((c) => !c.assertions.length).length;
  return (
    <section aria-labelledby="coverage">
      <h2 id="coverage">Instructions and their assertions</h2>
      {!list.length && <p class="muted">No instructions were found in the newest version.</p>}
      {list.length > 0 && <p>{plural(list.length, 'instruction')} in the newest version: {list.length - open} matched with an assertion, {open} not. Rules match them by their words, so an assertion that checks an instruction in another way is not found. <code>proviso spade</code> proposes assertions for instructions.</p>}
      <div class="two">
        <div class="outtext prompt" tabIndex={0} role="region" aria-label="Newest version with its instructions"><bdi class="text">{marked(text, list)}</bdi></div>
        {list.length > 0 && <ol class="covers">{list.map((c, i) => (
          <li key={i}>
            <Mark covered={c.assertions.length > 0} /> <bdi>{plain(shorten(c.text, 160))}</bdi>
            <div>{c.assertions.slice(0, 20).map((a) => <a key={a} class="chip" href={address('/assertions', { suite: p.suite, a })}>{plain(shorten(a, 80))}</a>)}</div>
          </li>
        ))}</ol>}
      </div>
    </section>
  );
}

function Mark({ covered }: { covered: boolean }) {
  return covered ? <span class="status pass"><span aria-hidden="true">✓ </span>Matched</span> : <span class="status error"><span aria-hidden="true">○ </span>Not matched</span>;
}

function marked(text: string, list: Prompt['coverage']): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let at = 0;
  list.forEach((c, i) => {
    if (c.start < at) return; // sentences should not overlap; one that does is only listed
    parts.push(...visible(text.slice(at, c.start)));
    const covered = c.assertions.length > 0;
    parts.push(<span key={i} class={'instruction ' + (covered ? 'covered' : 'open')}><span aria-hidden="true" class="sign">{covered ? '✓' : '○'}{i + 1}</span><span class="hidden">{covered ? 'Matched' : 'Not matched'}: </span>{visible(text.slice(c.start, c.end))}</span>);
    at = c.end;
  });
  parts.push(...visible(text.slice(at)));
  return parts;
}
