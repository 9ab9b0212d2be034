// Writes every file that is made of third-party npm packages. Run it with
//
//     npm ci --ignore-scripts && node generate.mjs
//
// The result is the same to the byte for the same package-lock.json; SHA256SUMS
// lists what went in and what came out, so that a check needs no Node.
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

import { here, root, written } from './files.mjs';
import { writeLicenses } from './licenses.mjs';
import { writeMathjs } from './mathjs.mjs';
import { writeNunjucks } from './nunjucks.mjs';
import { writeParsers } from './sqlparser.mjs';
import { writeSynonyms } from './wordnet.mjs';

await writeNunjucks();
await writeMathjs();
await writeParsers();
writeSynonyms();
writeLicenses();

const inputs = readdirSync(here)
  .filter((name) => name.endsWith('.mjs') || name.endsWith('.js') || name.startsWith('package'))
  .map((name) => join(here, name));
const lines = [...inputs, ...written]
  .map((file) => [relative(root, file).replaceAll('\\', '/'), readFileSync(file)])
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, data]) => `${createHash('sha256').update(data).digest('hex')}  ${name}\n`);
writeFileSync(join(here, 'SHA256SUMS'), lines.join(''));
