// Serves the run view over made-up data, under the policy of the app:
//   node dev/serve.mjs [port]
import { build } from 'esbuild';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

export async function serve(port = 0) {
  const built = await build({ absWorkingDir: root, entryPoints: ['dev/page.tsx', 'dev/page.css'], outdir: 'out', bundle: true, write: false, minify: true, format: 'esm', target: 'es2022', jsx: 'automatic', jsxImportSource: 'preact' });
  const files = new Map(built.outputFiles.map((f) => ['/' + f.path.split('/').pop(), f.text]));
  const server = createServer((request, reply) => {
    const path = new URL(request.url, 'http://x').pathname, file = files.get(path);
    reply.setHeader('Content-Security-Policy', policy);
    if (file === undefined && path !== '/') { reply.statusCode = 404; reply.end(); return; }
    reply.setHeader('Content-Type', path.endsWith('.js') ? 'text/javascript' : path.endsWith('.css') ? 'text/css' : 'text/html; charset=utf-8');
    reply.end(file ?? '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>run view</title><link rel="stylesheet" href="/page.css"><body></body><script type="module" src="/page.js"></script></html>');
  });
  await new Promise((ready) => server.listen(port, '127.0.0.1', ready));
  return server;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const server = await serve(Number(process.argv[2] ?? 8099));
  console.log('http://127.0.0.1:' + server.address().port + '/');
}
