// The budgets of the pages, measured. Chromium measures input itself, to the next frame
// (event timing), and no request is intercepted. The table stands beside what promptfoo
// view took on the same machine: figures of promptfoo 0.121.20, in docs/app.md. Times
// depend on the machine, so that a time over its budget is marked, and fails nothing.
import { cold, enter, made, open, serve, view } from './harness.mjs';
import { report } from './report.browser.mjs';
import { test } from './tests.mjs';
import { words } from './screens.mjs';

function line(what, got, limit, theirs, unit = '') {
  console.log(`     ${got <= limit ? 'ok  ' : 'OVER'} ${what.padEnd(44)} ${String(Math.round(got * 10) / 10).padStart(9)} ${unit.padEnd(3)} ${('≤ ' + limit).padStart(8)}   ${theirs}`);
}
const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.ceil(q * list.length) - 1)];
const median = (list) => quantile(list, 0.5);

const rowsShown = (page) => page.getByRole('gridcell').first().waitFor();

// inputs performs steps and returns how long each interaction took to the next frame.
async function inputs(page, steps) {
  await page.evaluate(() => {
    window.measured = new Map();
    new PerformanceObserver((list) => { for (const e of list.getEntries()) if (e.interactionId) window.measured.set(e.interactionId, Math.max(window.measured.get(e.interactionId) ?? 0, e.duration)); }).observe({ type: 'event', durationThreshold: 16 });
  });
  let n = 0;
  for (const step of steps) { n += await step(); await page.waitForTimeout(120); }
  await page.waitForTimeout(200);
  const slow = await page.evaluate(() => [...window.measured.values()]);
  return [...slow, ...Array(Math.max(0, n - slow.length)).fill(8)]; // faster ones than 16 ms are not reported
}

test('budget: first load', { bench: true, timeout: 600_000 }, async () => {
  const server = await view('support', 'before', 'repeats', 'passed');
  const runs = [];
  for (let i = 0; i < 5; i++) {
    runs.push(await cold(server, `/runs/${made('support', 'support+before+repeats+passed').id}`, rowsShown));
  }
  line('a run: first paint, median of 5', median(runs.map((l) => l.paint)), 500, '808 to 1,804', 'ms');
  line('a run: first rows, median of 5', median(runs.map((l) => l.ms)), 1500, '1,498 to 2,721', 'ms');
});

for (const [name, cases] of [['k1', '1,000'], ['k10', '10,000'], ['k100', '100,000']]) {
  test(`budget: ${cases} × 4`, { bench: true, timeout: 900_000 }, async () => {
    const server = await view(name), path = `/runs/${made(name, name).id}?status=all`;
    const first = await open();
    const from0 = Date.now();
    await enter(first.page, server, path, 120_000); // the server reads the file once
    console.log(`     ${cases} × 4: the first time, when the server reads the file: ${((Date.now() - from0) / 1000).toFixed(1)} s`);
    await first.close();
    const loads = [];
    for (let i = 0; i < 3; i++) loads.push(await cold(server, path, rowsShown));
    line(`${cases} × 4: first paint, median of 3`, median(loads.map((l) => l.paint)), 1000, '–', 'ms');
    line(`${cases} × 4: first rows, median of 3`, median(loads.map((l) => l.ms)), 2000, '(5,000 × 1) 2,232 to 2,544', 'ms');
    const o = await open({ reducedMotion: 'no-preference' });
    try {
      const { page } = o;
      await enter(page, server, path);
      await rowsShown(page);
      const filter = (name) => async () => { await page.getByRole('button', { name }).or(page.getByRole('radio', { name })).first().click(); return 1; };
      const clicks = Array.from({ length: 30 }, (_, i) => filter([words.fail, words.error, words.pass][i % 3]));
      const filtered = await inputs(page, clicks);
      line(`${cases} × 4: filter, p95 of 30`, quantile(filtered, 0.95), 100, '(300 × 3) 8,000 to 11,300', 'ms');
      const search = page.getByRole('searchbox').first();
      await search.focus();
      const key = (k) => async () => { await page.keyboard.press(k); return 1; };
      const typed = await inputs(page, [...'needle', ...Array(6).fill('Backspace'), ...'case number 9', ...Array(13).fill('Backspace')].map((k) => key(k === ' ' ? 'Space' : k)));
      line(`${cases} × 4: keystroke in search, p95 of 38`, quantile(typed, 0.95), 100, '(6 keys) 56 to 1,386', 'ms');
      const frames = await page.getByRole('grid').evaluate(async (grid) => {
        const box = [grid, ...grid.querySelectorAll('*')].find((e) => e.scrollHeight > e.clientHeight + 100 && /auto|scroll/.test(getComputedStyle(e).overflowY)) ?? document.scrollingElement;
        const times = [];
        let last = performance.now();
        for (let i = 0; i < 120; i++) {
          box.scrollTop += 90;
          await new Promise(requestAnimationFrame);
          const now = performance.now();
          times.push(now - last);
          last = now;
        }
        return times.slice(20);
      });
      line(`${cases} × 4: frame while scrolling, p95`, quantile(frames, 0.95), 70, '–', 'ms');
      if (o.trouble.length) throw new Error(o.trouble.slice(0, 3).join('; '));
    } finally {
      await o.close();
      await server.stop();
    }
  });
}

for (const [name, what, theirs] of [['k300', '300 × 3 × 5', '1,950'], ['k20', '20,000 × 6 × 5', '–']]) {
  test(`budget: report of ${what}`, { bench: true, timeout: 900_000 }, async () => {
    const { url, size } = await report(name), loads = [];
    for (let i = 0; i < 5; i++) loads.push(await cold(null, url));
    line(`report ${what}: size`, size / 1024, name === 'k300' ? 2048 : 10240, name === 'k300' ? '6,113' : '–', 'KB');
    line(`report ${what}: first paint, median of 5`, median(loads.map((l) => l.paint)), name === 'k300' ? 500 : 1000, theirs, 'ms');
    line(`report ${what}: open, median of 5`, median(loads.map((l) => l.ms)), 2000, '–', 'ms');
  });
}

// The next item: from the key to the frame that shows it. In between, the label is on the disk.
test('budget: label, 10,000 items and 10,000 labels', { bench: true, timeout: 900_000 }, async () => {
  const s = await serve(['judged10']), o = await open();
  try {
    const send = async (method, path, body) => { const r = await fetch(s.server.url + path, { method, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }); if (!r.ok) throw new Error(`${path}: ${r.status} ${await r.text()}`); };
    await send('PUT', '/v1/label-queues/q', { run: s.runs.judged10, people: 2 });
    let next = 0;
    await Promise.all(Array.from({ length: 8 }, async () => {
      while (next < 10_000) { const index = next++; await send('POST', '/v1/labels', { run: s.runs.judged10, index, assertion: 'tone', label: index % 4 ? 'pass' : 'fail', by: 'ana', queue: 'q' }); }
    }));
    const from = Date.now();
    await enter(o.page, s.server, '/label/q');
    await o.page.locator('.itemname').waitFor();
    line('10,000 labels: the first item', Date.now() - from, 1500, '–', 'ms');
    const times = [];
    for (let i = 0; i < 60; i++) {
      await o.page.waitForTimeout(400); // as long as nobody reads an item, and the next one is loaded ahead
      await o.page.evaluate(() => { window.took = new Promise((resolve) => {
        const name = () => document.querySelector('.itemname')?.textContent, before = name();
        let pressed = 0;
        addEventListener('keydown', () => { pressed = performance.now(); }, { once: true, capture: true });
        const seen = new MutationObserver(() => {
          if (!pressed || !name() || name() === before) return;
          seen.disconnect();
          requestAnimationFrame(() => resolve(performance.now() - pressed));
        });
        seen.observe(document.querySelector('main'), { subtree: true, childList: true, characterData: true });
      }); });
      await o.page.keyboard.press('12'[i % 2]);
      times.push(await o.page.evaluate(() => window.took));
    }
    const saved = await o.page.evaluate(() => performance.getEntriesByType('resource').filter((e) => e.name.endsWith('/v1/labels')).map((e) => e.duration));
    line('10,000 labels: the label is saved, p95', quantile(saved, 0.95), 30, '–', 'ms');
    line('10,000 labels: next item, median of 60', median(times), 50, '–', 'ms');
    line('10,000 labels: next item, p95 of 60', quantile(times, 0.95), 50, '–', 'ms');
    if (o.trouble.length) throw new Error(o.trouble.slice(0, 3).join('; '));
  } finally {
    await o.close();
    await s.server.stop();
  }
});
