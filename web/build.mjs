// Bundles the front end into dist, which the Go package web embeds. The same sources
// give the same bytes: names have no hashes, and nothing depends on the machine.
//
//   node build.mjs          writes dist
//   node build.mjs --watch  writes it anew after each change
import { context, transform } from 'esbuild';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(fileURLToPath(import.meta.url));
rmSync(root + '/dist', { recursive: true, force: true });

const shared = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  format: 'esm',
  target: ['es2022'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'none',
  charset: 'utf8',
  logLevel: 'warning',
};

// The style of the panel is a text in its script: a page of somebody else loads one file.
const styleAsText = {
  name: 'style as text',
  setup(build) {
    build.onLoad({ filter: /panel[\\/]panel\.css$/ }, async ({ path }) => ({ loader: 'text', contents: (await transform(readFileSync(path, 'utf8'), { loader: 'css', minify: true })).code.trim() }));
  },
};

// Members that only the modules of the panel know: shorter names make it smaller. A name
// that is in JSON, in panel.d.ts or in the DOM must not be here.
const ownMembers = /^(drafts|unsorted|changed|passes|phase|totals|begin|toggle|linting|removed|verdict|problem|saved|missing|forget|follow|found|lost|actions)$/;

const builds = await Promise.all([
  // The app: pages are loaded when they are first opened.
  context({ ...shared, entryPoints: ['src/app.tsx', 'src/app.css'], outdir: 'dist', splitting: true, chunkNames: 'app-[name]-[hash]' }),
  // The report: one script and one style, which the page holds inline.
  context({ ...shared, format: 'iife', entryPoints: ['src/report.tsx', 'src/report.css'], outdir: 'dist' }),
  // The panel: one module, which the page of an agent loads.
  context({ ...shared, entryPoints: ['src/panel.tsx'], outdir: 'dist', plugins: [styleAsText], mangleProps: ownMembers, jsx: 'transform', tsconfigRaw: { compilerOptions: { jsx: 'react', jsxFactory: 'h', jsxFragmentFactory: 'Fragment' } }, inject: ['src/panel/h.ts'] }),
]);
for (const build of builds) {
  if (process.argv.includes('--watch')) {
    await build.watch();
  } else {
    await build.rebuild();
    await build.dispose();
  }
}

// The licence of what is inside the bundles, for the notices of the binary.
const read = (name) => readFileSync(root + '/node_modules/preact/' + name, 'utf8');
const { version, license, homepage } = JSON.parse(read('package.json'));
writeFileSync(root + '/../internal/generate/licenses/preact.txt', `preact ${version} (npm)\nLicence: ${license}\n${homepage}\n\n${read('LICENSE').trimEnd()}\n`);
