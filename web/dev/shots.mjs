// Takes screenshots of the run view: node dev/shots.mjs FOLDER [name…]
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { serve } from './serve.mjs';

const [folder, ...only] = process.argv.slice(2);
const views = {
  laptop: { shape: {}, size: [1280, 720] },
  desk: { shape: {}, size: [1440, 900] },
  dark: { shape: {}, size: [1440, 900], query: 'theme=dark&' },
  phone: { shape: {}, size: [390, 844] },
  six: { shape: { columns: 6 }, size: [1440, 900] },
  one: { shape: { columns: 1 }, size: [1280, 720] },
  repeats: { shape: { columns: 2, repeats: 5 }, size: [1280, 720] },
  passed: { shape: { fail: 0 }, size: [1280, 720] },
  closed: { shape: {}, size: [1440, 900], query: 'open=no&' },
  many: { shape: { cases: 40, assertions: 2000 }, size: [1280, 720] },
  empty: { shape: {}, size: [1280, 720], query: 'open=no&q=zebra&' },
  cut: { shape: { running: 120 }, size: [1280, 720] },
  live: { shape: { running: 120, mode: 'live' }, size: [1280, 720], query: 'open=no&' },
  none: { shape: { assertions: 0 }, size: [1280, 720] },
  down: { shape: { mode: 'down' }, size: [1280, 720] },
  wall: { shape: { columns: 6 }, size: [2560, 1440] },
  wallclosed: { shape: { columns: 6 }, size: [2560, 1440], query: 'open=no&' },
  few: { shape: { cases: 4, columns: 2 }, size: [1280, 720] },
  big: { shape: { cases: 100000, columns: 4 }, size: [1280, 720] },
};
const axe = readFileSync(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const server = await serve(), base = 'http://127.0.0.1:' + server.address().port + '/';
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
for (const [name, v] of Object.entries(views)) {
  if (only.length && !only.includes(name)) continue;
  const page = await browser.newPage({ viewport: { width: v.size[0], height: v.size[1] } });
  page.on('console', (m) => { if (m.type() === 'error') console.log(name, m.text()); });
  page.on('pageerror', (e) => console.log(name, 'error', e.message));
  await page.goto(base + '?' + (v.query ?? '') + 'shape=' + encodeURIComponent(JSON.stringify(v.shape)));
  await page.waitForSelector('.matrix .row, .cases, .empty, .problem');
  await page.waitForTimeout(500);
  await page.screenshot({ path: `${folder}/${name}.png` });
  console.log(name, await page.evaluate(() => document.querySelectorAll('*').length), 'nodes');
  const wrong = await page.evaluate(axe + '; axe.run().then((r) => r.violations.map((v) => v.id + " " + v.nodes.length + " " + v.nodes[0].html.slice(0, 160)))');
  if (wrong.length) console.log(name, wrong.join('\n'));
  await page.close();
}
await browser.close();
server.close();
