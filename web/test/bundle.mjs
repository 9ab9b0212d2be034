// Bundles a module of the sources, so that tests of Node can import it.
import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';

export async function load(path) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const built = await build({ absWorkingDir: root, entryPoints: [path], bundle: true, write: false, format: 'esm', target: 'es2022', jsx: 'automatic', jsxImportSource: 'preact' });
  return import('data:text/javascript;base64,' + Buffer.from(built.outputFiles[0].text).toString('base64'));
}
