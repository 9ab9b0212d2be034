// The playground: change a sentence of a prompt or an assertion, and see which promises the
// answer keeps, and why.
import { useEffect, useState } from 'preact/hooks';
import type { Session } from '../api';
import { get, useLoad } from '../load';
import { CopyLink, saveText } from '../parts/actions';
import { Data, Empty } from '../parts/states';
import { Answer } from '../playground/answer';
import { play, type Play } from '../playground/play';
import { Assertions, Prompt, Replaced } from '../playground/prompt';
import { RunSuite, SaveCase, SaveSet } from '../playground/save';
import { Verdicts } from '../playground/verdicts';
import { usePlace } from '../url';
import { Heading } from './heading';
import '../frame';

// Pages that open the playground with texts of their own load only this module. One more
// entry point would split the modules that all pages share, so each page would load one
// more file.
export { play };

// can reports whether a session may evaluate here.
const can = (s: Session): boolean => s.mode === 'serve' && (s.scopes.includes('evaluate') || s.scopes.includes('admin'));

export default function Playground() {
  const session = useLoad((signal) => get<Session>('/v1/session', signal), []);
  return (
    <>
      <Heading title="Playground"><CopyLink />{session.data && can(session.data) && <DownloadAll />}</Heading>
      <Data of={session} what="the session">{(s) => (can(s) ? <Bench /> : s.mode === 'view'
        ? <Empty command="proviso serve"><code>proviso view</code> has no playground: it shows runs, and asks no models. <code>proviso serve</code> has one.</Empty>
        : <Empty command="proviso key create NAME --scope read,evaluate">Your key may not evaluate, which takes the scope <code>evaluate</code>. To create a key that may, run on the server:</Empty>)}</Data>
    </>
  );
}

// usePlay renders again when the tab's state changes.
function usePlay(): Play {
  const state = play(), [, turn] = useState(0);
  useEffect(() => {
    const changed = () => turn((n) => n + 1);
    state.listeners.add(changed);
    return () => { state.listeners.delete(changed); state.save(); };
  }, []);
  return state;
}

function Bench() {
  const state = usePlay(), { query } = usePlace(), provider = query.get('provider') ?? '';
  state.auto = query.get('auto') !== 'off';
  const ask = () => { if (provider && !state.asking && (state.draft.prompt.trim() || state.draft.input.trim())) void state.ask(provider); };
  // Ctrl+Enter sends the prompt if a provider is chosen, otherwise it judges.
  const keys = (e: KeyboardEvent) => {
    if (e.key !== 'Enter' || !(e.ctrlKey || e.metaKey)) return;
    e.preventDefault();
    if ((e.target as Element).closest('.asks-model')) ask();
    else state.judge();
  };
  return (
    <div class="play" onKeyDown={keys}>
      <div class="make">
        <Replaced state={state} />
        <Prompt state={state} />
        <Assertions state={state} />
      </div>
      <div class="see">
        <Answer state={state} provider={provider} ask={ask} />
        <Verdicts state={state} />
        <section class="keep" aria-labelledby="keep">
          <h2 id="keep">Keep it</h2>
          <SaveSet state={state} /><SaveCase state={state} /><RunSuite />
        </section>
      </div>
    </div>
  );
}

// DownloadAll saves the page's content as a request for POST /v1/evaluate.
function DownloadAll() {
  const save = () => {
    const state = play(), { input, output, ...rest } = state.about();
    const body = { agent_input: input, agent_output: output, ...rest, assertions: state.wanted().map((w) => w.value) };
    saveText('evaluate.json', JSON.stringify(body, null, 2) + '\n', 'application/json');
  };
  return <button type="button" onClick={save}>Download JSON</button>;
}
