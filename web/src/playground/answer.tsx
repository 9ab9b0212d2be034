// The answer, from a provider or pasted.
import { useMemo, useState } from 'preact/hooks';
import type { AskableProvider } from '../api';
import { get, useLoad } from '../load';
import { dollars, duration, plural } from '../number';
import { items, type Items } from '../pages/items';
import { Failed } from '../parts/states';
import { plain, shorten } from '../text';
import { change } from '../url';
import { Output } from '../run/output';
import { Area, type Props } from './prompt';
import { evidenceOf, strong } from './verdicts';

export function Answer({ state, provider, ask }: Props & { provider: string; ask: () => void }) {
  const { draft: d } = state, providers = useLoad((signal) => get<Items<AskableProvider>>('/v1/providers', signal).then(items), []);
  const [typing, type] = useState(false);
  const ready = (providers.data ?? []).filter((p) => p.allowed && p.key !== 'absent');
  const models = ready.flatMap((p) => (p.models.length ? p.models : [p.id + ':']));
  const why = !provider ? 'Choose a provider to ask, or paste an answer below.' : !d.prompt.trim() && !d.input.trim() ? 'Write a prompt or an input first.' : '';
  const evidence = useMemo(() => evidenceOf(state), [d.output, state.judging.verdicts.size, state.ended, state.edit.items.length, state.judging.busy]);
  const editing = typing || !d.output;
  return (
    <section aria-labelledby="answer">
      <h2 id="answer">Answer</h2>
      <form class="filterrow asks-model" onSubmit={(e) => { e.preventDefault(); ask(); }}>
        <label class="field grow"><span>Provider</span>
          <input list="models" value={provider} placeholder={models[0] ?? 'openai:chat:gpt-5-mini'} spellcheck={false} autocomplete="off" onInput={(e) => change({ provider: e.currentTarget.value.trim() }, true)} />
        </label>
        <datalist id="models">{models.slice(0, 200).map((m) => <option key={m} value={m} />)}</datalist>
        {state.asking ? <button type="button" onClick={() => state.endAsking()}>Cancel</button> : <button type="submit" disabled={!!why} aria-describedby="why-not">Ask</button>}
      </form>
      <p class="muted" id="why-not">{why || 'Ctrl + Enter in the prompt asks, too.'}</p>
      {providers.problem && <Failed problem={providers.problem} retry={providers.retry} />}
      <div role="status">{state.asking && <p class="status going">… {plain(shorten(provider, 100))} is asked</p>}</div>
      {state.problem && <Failed problem={state.problem} retry={ask} />}
      {editing
        ? <Area label="Answer" hint="paste or write one" of={d.output} set={(output) => { type(true); state.answered = undefined; state.set({ output }); }} rows={8} />
        : <div role="region" aria-label="Answer with evidence" tabIndex={0}><Output text={d.output} evidence={evidence} strong={strong(state)} name="answer.txt" cut={false} /></div>}
      {d.output && <p class="muted">
        <button type="button" class="link" onClick={() => type(!editing)}>{editing ? 'Done' : 'Edit the answer'}</button>
        {state.answered && <span class="num"> · answered in {duration(state.answered.latency_ms)}{state.answered.usage.total > 0 && ' · ' + plural(state.answered.usage.total, 'token')}{state.answered.cost !== null && ' · ' + dollars(state.answered.cost)}{state.answered.cached && ' · cached'}</span>}
      </p>}
    </section>
  );
}
