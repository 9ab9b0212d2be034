// Reads packages and writes generated files.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'fflate';

export const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, '..', '..');

/** The path of a file of an installed package. */
export const packaged = (...path) => join(here, 'node_modules', ...path);

/** The text of a file of an installed package. */
export const read = (...path) => readFileSync(packaged(...path), 'utf8');

/** Every generated file, in the order of writing. */
export const written = [];

/** Writes a file; path is relative to the repository. */
export function write(path, data) {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, data);
  written.push(file);
}

/**
 * Writes a compressed file. The compressor is a pinned package, because the
 * bytes that Node's own zlib writes depend on its version and the processor.
 */
export function writeGzip(path, text) {
  write(path, gzipSync(new TextEncoder().encode(text), { level: 9, mem: 12, mtime: 0 }));
}

/** Removes the reference to a source map, which would be looked for at run time. */
export const stripSourceMap = (code) => code.replace(/\n?\/\/# sourceMappingURL=.*\n?/g, '\n');
