// Compares the bundles of sqlparser.mjs with the package as published, on the
// statements of the conformance corpus and on damaged ones made of them.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import vm from 'node:vm';
import { root } from './files.mjs';

const require = createRequire(import.meta.url);

const statements = ['is-sql', 'contains-sql'].flatMap((name) =>
  readFileSync(join(root, 'conformance', 'corpus', `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).output)
    .filter((output) => typeof output === 'string' && output.length < 2000),
);

/** Throws if a bundle and the package differ on any statement. */
export function verify(name, code) {
  const { Parser } = require(`node-sql-parser/umd/${name}.umd.js`);
  const parser = new Parser();
  const context = vm.createContext({});
  vm.runInContext(code, context);
  for (const sql of new Set([...statements, ...statements.flatMap(damaged)])) {
    const want = result(() => parser.parse(sql, { database: name }));
    const got = result(() => context.parseStatement(sql.trim()));
    if (got !== want) throw new Error(`${name}: ${JSON.stringify(sql)}\n got ${got}\nwant ${want}`);
  }
}

function result(parse) {
  try {
    return JSON.stringify(parse());
  } catch (e) {
    return `${e.name}: ${e.message} ${JSON.stringify(e.location)}`;
  }
}

/** A word dropped, a word doubled, the end cut off, words swapped: one of each per statement. */
function damaged(sql, i) {
  const words = sql.split(/\b/);
  const at = (i * 7) % words.length;
  const without = words.toSpliced(at, 1);
  const doubled = words.toSpliced(at, 0, words[at], ' ');
  const swapped = words.toSpliced(at, 1, words[(at + 2) % words.length]);
  return [without.join(''), doubled.join(''), swapped.join(''), sql.slice(0, (i * 13) % (sql.length + 1)), `${sql} ; ${sql}`];
}
