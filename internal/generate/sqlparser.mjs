// The grammars of node-sql-parser, one bundle per dialect.
//
// The package ships PEG.js parsers as minified UMD files, with what PEG.js wrote
// in their source maps. The bundles are made of that, because as published a
// parse declares some three thousand functions and constants anew, and collects
// what it expected at every step for a message it seldom needs. The functions
// and their order are left alone; what changes is
//
//   - functions and constants are made once, and state is set back by each parse;
//   - a parse collects expectations only if a first one without them has failed;
//   - literals and character classes are compared in place, without a substring
//     or a regular expression;
//   - a rule that cannot begin with the character at hand fails at once (first.mjs).
import * as esbuild from 'esbuild';
import { read, writeGzip } from './files.mjs';
import { addGuards } from './first.mjs';
import { verify } from './verify.mjs';

/** The dialects: the name of the UMD file is the name in lower case. */
export const dialects = [
  'Athena', 'BigQuery', 'DB2', 'FlinkSQL', 'Hive', 'MariaDB', 'MySQL', 'Noql',
  'PostgreSQL', 'Redshift', 'Snowflake', 'Sqlite', 'TransactSQL', 'Trino',
];

export async function writeParsers() {
  for (const dialect of dialects) {
    const name = dialect.toLowerCase();
    const code = await bundle(name);
    verify(name, code);
    writeGzip(`internal/sqlparser/grammars/${name}.js.gz`, code);
  }
}

/** The text of a bundle that defines the global function parseStatement. */
export async function bundle(name) {
  const { sources, sourcesContent } = JSON.parse(read('node-sql-parser', 'umd', `${name}.umd.js.map`));
  const grammar = sourcesContent[sources.findIndex((source) => source.endsWith('.pegjs'))];
  const result = await esbuild.build({
    stdin: { contents: transform(grammar), resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'error',
    banner: { js: `/* ${name} grammar of node-sql-parser 5.4.0 (Apache-2.0), modified: see internal/generate/sqlparser.mjs */` },
  });
  return result.outputFiles[0].text;
}

/** Replaces text that must be there. */
function replace(code, from, to) {
  const changed = code.replaceAll(from, to);
  if (changed === code) throw new Error(`the parser has no ${from}`);
  return changed;
}

function transform(code) {
  code = replace(code, /^function peg\$parse\(input, options\) \{\n {2}options = .*\n/gm, 'let input = "", options = {}, peg$lower = "", peg$codes = [];\n');
  code = replace(code, /^ {2}if \("startRule" in options\) \{[\s\S]*?\n {2}\}\n/gm, '');
  code = replace(code, /if \(input\.substr\(peg\$currPos, \d+\)\.toLowerCase\(\) === (peg\$c\d+)\)/g, 'if (peg$lower.startsWith($1, peg$currPos))');
  code = replace(code, /if \(input\.substr\(peg\$currPos, \d+\) === (peg\$c\d+)\)/g, 'if (input.startsWith($1, peg$currPos))');
  code = replace(code, /if \((peg\$c\d+)\.test\(input\.charAt\(peg\$currPos\)\)\)/g, 'if (peg$in($1))');
  code = replace(code, /input\.charCodeAt\(peg\$currPos\) === (?=\d{1,2}\)|1[01]\d\)|12[0-7]\))/g, 'peg$codes[peg$currPos] === ');
  code = replace(code, /(peg\$c\d+ = )(\/\^\[.*\]\/i?)(,|;)$/gm, (_, name, regex, end) => name + characterClass(regex) + end);
  code = code.replace(/^ {4}const (tableAlias|tableList|columnList|customTypes) = /gm, '    let $1 = ');
  const tail = code.indexOf('  peg$result = peg$startRuleFunction();');
  return addGuards(code.slice(0, tail)) + parseFunctions(code);
}

/** A class as [membership of the ASCII characters as 0s and 1s, regular expression]. */
function characterClass(literal) {
  const regex = new Function(`return ${literal}`)();
  const ascii = Array.from({ length: 128 }, (_, i) => (regex.test(String.fromCharCode(i)) ? 1 : 0));
  return `["${ascii.join('')}", ${literal}]`;
}

function parseFunctions(code) {
  const sets = ['tableList', 'columnList', 'customTypes'].filter((name) => code.includes(`let ${name} = `));
  return `
  function peg$in(set) {
    const c = peg$codes[peg$currPos];
    return c < 128 ? set[0].charCodeAt(c) === 49 : set[1].test(input.charAt(peg$currPos));
  }

  function peg$begin(silent) {
    peg$currPos = peg$savedPos = peg$maxFailPos = 0;
    peg$posDetailsCache = [{ line: 1, column: 1 }];
    peg$maxFailExpected = [];
    peg$silentFails = silent;
    varList = [];
    tableAlias = {};
    ${sets.map((name) => `${name} = new Set();`).join(' ')}
    return peg$startRuleFunction();
  }

  function peg$parse(text) {
    input = text;
    // Characters whose lower case is longer are kept, so that offsets stay.
    peg$lower = text.toLowerCase();
    if (peg$lower.length !== text.length) {
      peg$lower = Array.from(text, (c) => (c.toLowerCase().length === c.length ? c.toLowerCase() : c)).join('');
    }
    peg$codes = new Uint8Array(text.length + 1);
    for (let i = 0; i < text.length; i++) peg$codes[i] = Math.min(text.charCodeAt(i), 128);
    peg$codes[text.length] = 129;
    peg$result = peg$begin(1);
    if (peg$result !== peg$FAILED && peg$currPos === input.length) return peg$result;
    peg$result = peg$begin(0);
    if (peg$result !== peg$FAILED && peg$currPos < input.length) peg$fail(peg$endExpectation());
    throw peg$buildStructuredError(
      peg$maxFailExpected,
      peg$maxFailPos < input.length ? input.charAt(peg$maxFailPos) : null,
      peg$maxFailPos < input.length
        ? peg$computeLocation(peg$maxFailPos, peg$maxFailPos + 1)
        : peg$computeLocation(peg$maxFailPos, peg$maxFailPos)
    );
  }

  globalThis.parseStatement = peg$parse;
`;
}
