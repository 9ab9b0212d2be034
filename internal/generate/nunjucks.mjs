// nunjucks, and what it makes of the snippets of snippets.mjs.
import nunjucks from 'nunjucks';
import { read, stripSourceMap, write } from './files.mjs';
import { snippets } from './snippets.mjs';

export async function writeNunjucks() {
  write('internal/template/nunjucks.js', stripSourceMap(read('nunjucks', 'browser', 'nunjucks.min.js')));
  write('internal/template/testdata/nunjucks.json', '[\n' + snippets.map(record).join(',\n') + '\n]\n');
}

/** Renders one snippet the way the suites of promptfoo are rendered. */
function record([template, vars = {}]) {
  const env = new nunjucks.Environment([], { autoescape: false });
  env.addGlobal('env', { HOME_CITY: 'Oslo', EMPTY: '' });
  env.addFilter('load', (text) => JSON.parse(text));
  let result;
  try {
    const output = env.renderString(template, structuredClone(vars));
    result = output === null ? { error: 'no output' } : { output };
  } catch (e) {
    // What the engine says differs between versions of Node.
    result = { error: e.message.replace(/\b((?:Type|Syntax|Reference|Range)Error): .*$/s, '$1') };
  }
  return JSON.stringify({ template, vars, ...result });
}
