// Measures the run view in a browser: node dev/measure.mjs [cases] [columns] [assertions]
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { serve } from './serve.mjs';

const [cases = 100_000, columns = 4, assertions = 5] = process.argv.slice(2).map(Number);
const server = await serve(), base = 'http://127.0.0.1:' + server.address().port + '/';
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
page.on('pageerror', (e) => console.log('error', e.message));
await page.goto(base + '?shape=' + encodeURIComponent(JSON.stringify({ cases, columns, assertions })));
await page.waitForSelector('.matrix .row');
await page.waitForTimeout(1500);
// The time of the main thread, so that what else the machine does is left out.
const cdp = await page.context().newCDPSession(page);
await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
let before = 0;
const cpu = async (name, n) => {
  const all = (await cdp.send('Performance.getMetrics')).metrics, now = all.find((m) => m.name === 'TaskDuration').value;
  if (n) console.log(`  ${name}: ${((1000 * (now - before)) / n).toFixed(1)} ms of the main thread each`);
  before = now;
};
await cpu();
const figures = (name, list) => { list.sort((a, b) => a - b); const at = (p) => list[Math.min(list.length - 1, Math.floor(p * list.length))].toFixed(0); console.log(`${name}: median ${at(0.5)} p95 ${at(0.95)} max ${at(1)} ms (n=${list.length})`); };

// An interaction is measured inside the page, from its event to the frame after the next paint.
figures('filter', await page.evaluate(async () => {
  const out = [], frame = () => new Promise((r) => requestAnimationFrame(() => setTimeout(r)));
  for (let i = 0; i < 120; i++) {
    const buttons = [...document.querySelectorAll('.counts button, .strip th button')];
    const begin = performance.now();
    buttons[i % buttons.length].click();
    await frame();
    out.push(performance.now() - begin);
    await new Promise((r) => setTimeout(r, 30));
  }
  return out;
}));
await cpu('filter', 120);
await page.evaluate(() => [...document.querySelectorAll('button')].find((b) => b.textContent === 'Clear filters')?.click());
figures('keystroke', await page.evaluate(async () => {
  const out = [], frame = () => new Promise((r) => requestAnimationFrame(() => setTimeout(r))), input = document.querySelector('input[type=search]');
  const words = ['refund, an', 'gift', '00123', 'password, '];
  for (let i = 0; i < 120; i++) {
    const word = words[Math.floor(i / 10) % words.length];
    const begin = performance.now();
    input.value = word.slice(0, 1 + (i % word.length));
    input.dispatchEvent(new InputEvent('input', { bubbles: true }));
    await frame();
    out.push(performance.now() - begin);
    await new Promise((r) => setTimeout(r, 60));
  }
  input.value = ''; input.dispatchEvent(new InputEvent('input', { bubbles: true }));
  return out;
}));
await cpu('keystroke', 120);
await page.waitForTimeout(600);
await cpu();
const scrolled = (step) => page.evaluate(async (step) => {
  const out = [], el = document.querySelector('.matrix');
  let last = performance.now();
  for (let i = 0; i < 300; i++) {
    el.scrollTop += step;
    await new Promise((r) => requestAnimationFrame(r));
    const now = performance.now();
    out.push(now - last); last = now;
  }
  return out;
}, step);
figures('scroll frame', await scrolled(90));
await cpu('scroll frame', 300);
figures('scroll frame, jumps', await scrolled(9000));
await page.focus('.matrix');
const keys = [];
for (let i = 0; i < 60; i++) {
  const begin = Date.now();
  await page.keyboard.press('ArrowDown');
  await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => setTimeout(r))));
  keys.push(Date.now() - begin);
}
figures('arrow key', keys);
console.log('nodes', await page.evaluate(() => document.querySelectorAll('*').length), 'heap MB', await page.evaluate(() => Math.round(performance.memory.usedJSHeapSize / 1e6)));
console.log('requests for previews', await page.evaluate(() => globalThis.asked?.length));
await page.keyboard.press('Control+End');
await page.waitForTimeout(300);
console.log('last row shown:', await page.evaluate(() => Math.max(...[...document.querySelectorAll('.row')].map((r) => Number(r.getAttribute('aria-rowindex'))))));
await page.addScriptTag({ content: '' }).catch(() => {});
const axe = readFileSync(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
for (const theme of ['light', 'dark']) {
  await page.evaluate((t) => { document.documentElement.dataset.theme = t; }, theme);
  const result = await page.evaluate(axe + '; axe.run().then((r) => r.violations.map((v) => v.id + " " + v.nodes.length + " " + v.nodes[0].html.slice(0, 200) + " " + v.nodes[0].failureSummary))');
  console.log('axe', theme, result.length ? result.join('\n') : 'no violations');
}
await browser.close();
server.close();
