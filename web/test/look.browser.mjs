// The look of its views in two themes, compared with pictures that a person has seen.
//
//   UPDATE=1 node run.mjs all look    writes the pictures anew; look at them before you commit
//
// The pictures are half as wide as the page and lossy, so that they stay small: they
// show what moved. They are compared as squares of about 8 × 8 pixels of the page, by their
// mean colour: letters of another version of a font change little of it, and a part of the
// page that moved, or has another colour, changes much.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { enter, launch, open, ready, view } from './harness.mjs';
import { ids } from './app.browser.mjs';
import { report } from './report.browser.mjs';
import { pretend } from './monitordata.mjs';
import { ok, test } from './tests.mjs';
import { screens } from './screens.mjs';

const folder = new URL('look/', import.meta.url);
export const now = new Date('2026-11-23T12:00:00Z');
const tolerance = { channel: 24, share: 0.02 }, coarse = 4;

// page is an empty page for work on pictures, without a policy.
let blank;
const easel = () => (blank ??= launch().then((b) => b.newPage()));

// small makes a picture half as wide, as WebP.
export async function small(png, scale = 0.5, quality = 0.72) {
  const data = await (await easel()).evaluate(async ([png, scale, quality]) => {
    const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
    const canvas = new OffscreenCanvas(Math.round(image.width * scale), Math.round(image.height * scale));
    const c = canvas.getContext('2d');
    c.imageSmoothingQuality = 'high';
    c.drawImage(image, 0, 0, canvas.width, canvas.height);
    const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/webp', quality })).arrayBuffer());
    let text = '';
    for (const b of bytes) text += String.fromCharCode(b);
    return btoa(text);
  }, [png.toString('base64'), scale, quality]);
  return Buffer.from(data, 'base64');
}

// difference is the share of squares of two pictures that differ in a channel.
export async function difference(a, b) {
  return (await easel()).evaluate(async ([a, b, channel, coarse]) => {
    const [x, y] = await Promise.all([a, b].map(async (data) => {
      const image = await createImageBitmap(await (await fetch(`data:image/webp;base64,${data}`)).blob());
      const full = new OffscreenCanvas(image.width, image.height).getContext('2d');
      full.drawImage(image, 0, 0);
      const d = full.getImageData(0, 0, image.width, image.height).data, width = Math.floor(image.width / coarse), height = Math.floor(image.height / coarse), sums = new Float32Array(4 * width * height);
      for (let y = 0; y < height * coarse; y++) for (let x = 0; x < width * coarse; x++) for (let k = 0; k < 3; k++) sums[4 * (Math.floor(y / coarse) * width + Math.floor(x / coarse)) + k] += d[4 * (y * image.width + x) + k] / (coarse * coarse);
      return { width, height, data: sums };
    }));
    if (x.width !== y.width || x.height !== y.height) return 1;
    let n = 0;
    for (let i = 0; i < x.data.length; i += 4) if (Math.abs(x.data[i] - y.data[i]) > channel || Math.abs(x.data[i + 1] - y.data[i + 1]) > channel || Math.abs(x.data[i + 2] - y.data[i + 2]) > channel) n++;
    return n / (x.data.length / 4);
  }, [a.toString('base64'), b.toString('base64'), tolerance.channel, coarse]);
}

// monitored are the views of the monitor, on what a made-up server says.
const monitored = { monitor: '/monitor', watch: '/monitor/tone', 'alarm-agent': '/alarms/alarm_agent', 'alarm-judge': '/alarms/alarm_judge', 'alarm-mix': '/alarms/alarm_mix', 'alarm-silent': '/alarms/alarm_silent', traffic: '/traffic', event: '/traffic?event=e2484' };

export const views = ['runs', 'run', 'case', 'compare', 'assertions', 'judges', 'prompts', 'report', ...Object.keys(monitored)];

// shoot opens a view at a fixed time and returns its picture.
export async function shoot(name, { theme = 'light', width = 1440, height = 900 } = {}) {
  const o = await open({ theme, width, height, timezoneId: 'UTC', locale: 'en-GB' });
  try {
    await o.page.clock.setFixedTime(now);
    if (name === 'report') {
      await o.page.goto((await report('support')).url);
      await ready(o.page);
    } else if (monitored[name]) {
      await enter(o.page, (await pretend(o.page, 6)).server, monitored[name]);
    } else {
      await enter(o.page, await view('support', 'before', 'repeats', 'passed'), screens.find((s) => s.name === name).path(ids()));
    }
    await o.page.evaluate(() => document.fonts.ready);
    await o.page.waitForTimeout(250); // previews of cells come after the matrix
    return await o.page.screenshot({ animations: 'disabled', caret: 'hide' });
  } finally {
    await o.close();
  }
}

for (const name of views) {
  for (const theme of ['light', 'dark']) {
    test(`look: ${name}, ${theme}`, {}, async () => {
      const file = new URL(`${name}-${theme}.webp`, folder), got = await small(await shoot(name, { theme }));
      if (process.env.UPDATE) {
        mkdirSync(folder, { recursive: true });
        writeFileSync(file, got);
        return { skip: 'written' };
      }
      if (!existsSync(file)) throw new Error(`there is no picture ${file.pathname}; UPDATE=1 writes it`);
      const share = await difference(got, readFileSync(file));
      if (share > tolerance.share) writeFileSync(`/tmp/proviso-look-${name}-${theme}.webp`, got);
      ok(share <= tolerance.share, `${(100 * share).toFixed(1)} % of the squares differ; see /tmp/proviso-look-${name}-${theme}.webp`);
    });
  }
}

test('look: a changed page is noticed', {}, async () => {
  const page = await easel();
  const picture = async (width) => {
    await page.setContent(`<div style="background:#0b5cad;width:${width}px;height:300px"></div>`);
    return small(await page.screenshot());
  };
  const [a, b, c] = [await picture(400), await picture(400), await picture(500)];
  ok((await difference(a, b)) === 0, 'the same page gives another picture');
  ok((await difference(a, c)) > tolerance.share, 'another page gives the same picture');
});
