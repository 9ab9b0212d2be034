// The prompt as it will be sent: its variables, and the text with their values. The server
// renders templates; this is only a preview.
import type { Assertion } from '../../panel/panel';

export type Vars = Record<string, string>;

const variable = /\{\{-?\s*([A-Za-z_]\w*)/g;
const simple = /\{\{-?\s*([A-Za-z_]\w*)((?:\.\w+)*)\s*-?\}\}/g;
const own = new Set(['assertions', 'env', 'true', 'false', 'none']); // of templates, not variables of the person

// valueOf returns the value of a variable with any name; '' if there is none.
export const valueOf = (vars: Vars, name: string): string => (Object.hasOwn(vars, name) ? vars[name]! : '');

// names returns the variables of a template in the order of their first use.
export function names(template: string): string[] {
  return [...new Set([...template.matchAll(variable)].map((m) => m[1]!).filter((n) => !own.has(n)))].slice(0, 100);
}

const filled = (template: string, vars: Vars, instructions = ''): string => template.replace(simple, (whole, name: string, path: string) => {
  if (name === 'assertions' && path === '.instructions') return instructions;
  return path === '' && Object.hasOwn(vars, name) ? vars[name]! : whole;
});

// instructions returns the text of {{ assertions.instructions }}: a list with one line per
// instruction, without duplicates. The engine builds the same list for suites.
export function instructions(of: Assertion[], vars: Vars): string {
  const lines = of.map((a) => (typeof a.instruction === 'string' ? filled(a.instruction, vars).split(/\s+/).filter(Boolean).join(' ') : ''));
  return [...new Set(lines.filter(Boolean).map((l) => '- ' + l))].join('\n');
}

export interface Preview { text: string; whole: boolean }

// preview fills in plain variables. The result is whole unless the template has other tags.
export function preview(template: string, vars: Vars, list: string): Preview {
  return { text: filled(template, vars, list), whole: !/\{[%#]/.test(template.replace(simple, '')) && !/\{\{/.test(template.replace(simple, '')) };
}

export interface Question { prompt: unknown; vars: Record<string, unknown>; input: string }

// question returns what is sent to a provider. A prompt that is a JSON list of messages is
// a chat. A prompt without variables becomes the system message, and the input the user
// message.
export function question(prompt: string, vars: Vars, input: string, of: Assertion[]): Question {
  const used = names(prompt), values: Record<string, unknown> = {};
  for (const n of used) values[n] = valueOf(vars, n);
  const list = instructions(of, vars);
  if (prompt.includes('assertions')) values.assertions = { instructions: list };
  if (used.length || !input) return { prompt: chat(prompt) ?? prompt, vars: values, input: asInput(used, vars) };
  if (!prompt.trim()) return { prompt: '{{ input }}', vars: { input }, input };
  const before = chat(prompt) ?? [{ role: 'system', content: prompt }];
  return { prompt: [...before, { role: 'user', content: '{{ input }}' }], vars: { ...values, input }, input };
}

// asInput returns the input as a judge sees it.
export function asInput(used: string[], vars: Vars): string {
  if (used.length === 1) return valueOf(vars, used[0]!);
  return used.map((n) => n + ': ' + valueOf(vars, n)).join('\n');
}

function chat(prompt: string): { role: string; content: unknown }[] | undefined {
  if (!/^\s*\[/.test(prompt)) return undefined;
  try {
    const list: unknown = JSON.parse(prompt);
    return Array.isArray(list) && list.length > 0 && list.every((m: { role?: unknown } | null) => typeof m?.role === 'string') ? (list as { role: string; content: unknown }[]) : undefined;
  } catch {
    return undefined;
  }
}
