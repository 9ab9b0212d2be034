// mathjs with all of its functions but help(), whose texts are half as long as
// the functions. Defines the global math.
import * as esbuild from 'esbuild';
import * as factories from './node_modules/mathjs/lib/esm/factoriesAny.js';
import { writeGzip } from './files.mjs';

export async function writeMathjs() {
  const names = Object.keys(factories).filter((name) => !name.startsWith('createHelp')).sort();
  const result = await esbuild.build({
    stdin: {
      contents: `
        import { create } from './node_modules/mathjs/lib/esm/core/create.js';
        import { ${names.join(', ')} } from './node_modules/mathjs/lib/esm/factoriesAny.js';
        globalThis.math = create({ ${names.join(', ')} }, {});
      `,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'error',
    banner: { js: '/* mathjs 15.2.0 (Apache-2.0) without help(): see internal/generate/mathjs.mjs */' },
  });
  writeGzip('internal/mathjs/mathjs.js.gz', result.outputFiles[0].text);
}
