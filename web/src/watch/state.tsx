// Texts for the states of watches and alarms, and links between the monitor pages.
import type { AlarmShown, WatchState } from '../api';
import { plain, shorten } from '../text';
import { address } from '../url';

const states: Record<WatchState, [sign: string, word: string, style: string]> = {
  ok: ['✓', 'In control', 'pass'], learning: ['…', 'Learning: not enough data', 'skip'], alarm: ['▲', 'Alarm', 'fail'], silent: ['!', 'Silent: nothing is known', 'error'],
};

// Silence and learning are separate states: the unknown is never shown as good.
export function WatchMark({ state }: { state: WatchState }) {
  const [sign, word, style] = states[state] ?? ['!', state, 'error'];
  return <span class={'status ' + style}><span aria-hidden="true">{sign} </span>{word}</span>;
}

const kinds: Record<AlarmShown['kind'], string> = { agent: 'The agent fails more often', judge: 'The judge decides differently', mix: 'The mix of the traffic has changed', silent: 'Nothing is known' };

export const kindOf = (a: AlarmShown): string => kinds[a.kind] ?? a.kind;

export function AlarmMark({ a }: { a: AlarmShown }) {
  const [sign, word, style] = a.state === 'open' ? ['▲', 'Open', 'fail'] : a.state === 'acked' ? ['●', 'Acknowledged', 'error'] : ['–', 'Closed', 'skip'];
  return <span class={'status ' + style}><span aria-hidden="true">{sign} </span>{word}</span>;
}

// named shortens a changed value. The value of a prompt is its hash.
export const named = (what: string, value: string): string => (what === 'prompt' && value.length > 20 ? value.slice(0, 19) + '…' : shorten(value, 40));

export const watchPage = (name: string, query: Record<string, string | undefined> = {}): string => address('/monitor/' + encodeURIComponent(name), query);
export const alarmPage = (id: string): string => '/alarms/' + encodeURIComponent(id);
export const eventPage = (id: string): string => address('/traffic', { event: id });

// causes are the causes of silence.
const causes: Record<string, string> = {
  traffic: 'no event came', verdicts: 'events came, and no verdict was made', key: 'the key of the judge or of the watch does not work', model: 'the judge’s model no longer exists',
  budget: 'the daily budget is spent', queue: 'events have waited for more than an hour, or too many are waiting', errors: 'an assertion cannot be decided',
};
export const causeText = (cause: string): string => causes[cause] ?? plain(cause);
