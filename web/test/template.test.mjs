// The prompt of the playground, as the browser shows it and as it is asked.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { load } from './bundle.mjs';

const { instructions, names, preview, question } = await load('src/playground/template.ts');

test('variables of a prompt', () => {
  for (const [text, want] of [
    ['{{name}} and {{ other | upper }} and {{- third -}} and {{ name }}', ['name', 'other', 'third']],
    ['{{ assertions.instructions }} {{ env.HOME }} { {x} } {x}', []],
    ['{{ customer.name }}', ['customer']],
    ['{{ 1 }} {{ }} {{', []],
  ]) assert.deepEqual(names(text), want, text);
});

// The same cases as TestInstructionsInPrompts of package run.
test('instructions are a list, each once', () => {
  const set = [{ id: 'a', instruction: 'Answer in at most\n two sentences.' }, { id: 'b', instruction: ' ' }, { id: 'c' }, { id: 'd', instruction: 'Greet {{ name }}.' }, { id: 'e', instruction: 'Greet {{name}}.' }];
  assert.equal(instructions(set, { name: 'ada' }), '- Answer in at most two sentences.\n- Greet ada.');
  assert.equal(instructions([], {}), '');
});

test('a preview fills in plain variables, once', () => {
  const vars = { a: '{{ b }}', b: '$& $1' };
  assert.deepEqual(preview('{{ a }}, {{b}}, {{ c }}', vars, ''), { text: '{{ b }}, $& $1, {{ c }}', whole: true });
  assert.deepEqual(preview('{{ assertions.instructions }}!', vars, '- x'), { text: '- x!', whole: true });
  for (const text of ['{{ a | upper }}', '{% if a %}x{% endif %}', '{# note #}']) assert.equal(preview(text, vars, '').whole, false, text);
  assert.equal(preview('{{ __proto__ }} {{ constructor }}', {}, '').text, '{{ __proto__ }} {{ constructor }}');
});

test('what a provider is asked, and what the judge sees as the input', () => {
  const chat = JSON.stringify([{ role: 'user', content: '{{ q }}' }]);
  for (const [what, args, want] of [
    ['one variable', ['Say {{ q }}', { q: 'x', old: 'y' }, '', []], { prompt: 'Say {{ q }}', vars: { q: 'x' }, input: 'x' }],
    ['two variables', ['{{ a }} {{ b }}', { a: '1' }, '', []], { prompt: '{{ a }} {{ b }}', vars: { a: '1', b: '' }, input: 'a: 1\nb: ' }],
    ['a strange name', ['{{ constructor }}', {}, '', []], { prompt: '{{ constructor }}', vars: { constructor: '' }, input: '' }],
    ['an input', ['Be kind.', {}, '{{ hi }}', []], { prompt: [{ role: 'system', content: 'Be kind.' }, { role: 'user', content: '{{ input }}' }], vars: { input: '{{ hi }}' }, input: '{{ hi }}' }],
    ['an input alone', ['', {}, 'hi', []], { prompt: '{{ input }}', vars: { input: 'hi' }, input: 'hi' }],
    ['a chat', [chat, { q: 'x' }, '', []], { prompt: JSON.parse(chat), vars: { q: 'x' }, input: 'x' }],
    ['no chat', ['[1] {{ q }}', { q: 'x' }, '', []], { prompt: '[1] {{ q }}', vars: { q: 'x' }, input: 'x' }],
    ['instructions', ['{{ assertions.instructions }}', {}, '', [{ id: 'a', instruction: 'Hi {{ q }}' }]], { prompt: '{{ assertions.instructions }}', vars: { assertions: { instructions: '- Hi {{ q }}' } }, input: '' }],
  ]) assert.deepEqual(question(...args), want, what);
});
