// The panel in the pages of others: verdicts that come in, streams that break, tokens that
// expire, labels that fail, and pages that move, style and restrict it.
import { axe, withPage } from './harness.mjs';
import { world } from './panelfake.mjs';
import { equal, ok, test, until } from './tests.mjs';

export const output = 'Hello 👋🏽 you. A small crack is usually fine for a short ride. See you soon!';
export const quote = 'A small crack is usually fine for a short ride.';
const named = (...ids) => ids.map((id) => ({ id, instruction: `Keep ${id}.` }));

// inside returns a locator in the panel; says waits for a text in it.
export const inside = (page, selector = '.panel') => page.locator('proviso-panel').first().locator(selector);
export const says = (page, what, which = 0) => until(async () => what.test(await page.locator('proviso-panel').nth(which).locator('.panel').innerText().catch(() => '')), `${what} in the panel`);
export const row = (page, name) => inside(page, 'button.top').filter({ hasText: name });

// panelOn opens a page of the example host with a world, and waits until the stream is there.
export async function panelOn(page, w, name = 'plain') {
  await page.goto(`${w.host}/${name}.html`);
  await until(() => w.streams.size > 0, 'a listener of the events');
}

const inWorld = (name, options, of, run) => test(`panel: ${name}`, options, () => withPage(options.page ?? {}, async (page, o) => {
  const w = await world(of);
  try { await run(page, w, o); } finally { await w.stop(); }
}));

// listed waits until the rows are these, in this order.
async function listed(page, want, when) {
  let got;
  const same = async () => (got = (await inside(page, '.row .name').allInnerTexts()).join()) === want.join();
  await until(same, when).catch(() => equal(got, want.join(), when));
}

for (const host of ['plain', 'react', 'strict', 'hostile']) {
  inWorld(`verdicts stream in, ${host} host`, { smoke: true }, { assertions: named('tone', 'safety', 'brief', 'topic') }, async (page, w) => {
    await panelOn(page, w, host);
    await says(page, /judging 4…/);
    w.verdict(2);
    w.verdict(1, 'fail', { evidence: [quote], marks: [{ quote, start: 3, end: 9 }], score: 0.25 });
    w.verdict(0, 'error', { reasoning: 'the judge timed out' });
    await says(page, /1 of 4 passed · 1 failed · 1 error · judging 1…/);
    await listed(page, ['safety', 'tone'], 'while verdicts come in');
    w.verdict(3, 'fail');
    w.finish({ score: null });
    await says(page, /1 of 4 passed · 2 failed · 1 error$/m);
    await listed(page, ['safety', 'topic', 'tone'], 'failures first');
    ok(await row(page, 'safety').isVisible(), 'the panel is not visible');
    equal(w.log.filter((r) => r.cookie && r.path !== '/panel.js').length, 0, 'requests with cookies');
    const panel = await inside(page).evaluate((e) => { const s = getComputedStyle(e); return [s.fontSize, s.color === 'rgba(0, 0, 0, 0)', s.letterSpacing, s.writingMode, s.textTransform, s.direction, s.pointerEvents, s.visibility]; });
    equal(panel, ['14px', false, 'normal', 'horizontal-tb', 'none', 'ltr', 'auto', 'visible'], 'styles of the panel');
    await row(page, 'safety').click();
    ok((await inside(page, '.body').innerText()).includes('Keep safety.'), 'the instruction is not shown');
    equal(await axe(page).then((all) => all.filter((v) => host !== 'hostile')), [], 'axe');
  });
}

inWorld('evidence is where it is, and nowhere else', { smoke: true }, { assertions: named('a', 'b') }, async (page, w) => {
  await panelOn(page, w);
  await page.evaluate((text) => {
    document.getElementById('output').textContent = text;
    document.querySelector('proviso-panel').output = text;
    window.told = [];
    document.addEventListener('proviso-evidence', (e) => window.told.push(e.detail));
  }, output);
  // The offsets of the first are right, those of the second are not, and the third is not there.
  const from = output.indexOf(quote), wave = '👋🏽 you';
  w.verdict(0, 'fail', { evidence: [quote, wave, 'A small crack is usualy fine', 'HELLO'], marks: [{ quote, start: from, end: from + quote.length }, { quote: wave, start: 0, end: wave.length }, { quote: 'A small crack is usualy fine', start: from, end: from + 28 }] });
  await row(page, 'a').click();
  const quotes = inside(page, '.quotes button');
  await until(async () => (await quotes.count()) === 2, 'two quotes can be opened');
  equal(await inside(page, '.quotes .lost').count(), 2, 'quotes that are not in the output');
  ok((await inside(page, '.quotes .lost').first().innerText()).includes('quote not in output'), 'a quote that is not there does not say so');
  const marked = () => page.evaluate(() => [...CSS.highlights.get('evidence')].map(String).join());
  await quotes.nth(0).click();
  equal(await marked(), quote, 'the marked text');
  await quotes.nth(1).click();
  equal(await marked(), wave, 'the marked text with emoji');
  equal(await page.evaluate(() => window.told), [{ assertion: 'a', start: from, end: from + quote.length }, { assertion: 'a', start: 6, end: 6 + wave.length }], 'events');
  await page.evaluate(() => { document.querySelector('proviso-panel').output = 'Another answer.'; });
  await until(async () => (await quotes.count()) === 0, 'no quote of another answer');
  await page.evaluate(() => { document.querySelector('proviso-panel').output = null; });
  await until(async () => (await inside(page, '.quotes .lost').count()) === 0, 'quotes without an answer');
  equal(await quotes.count(), 0, 'quotes without an answer to open');
});

inWorld('an expired token in the middle of a stream', { smoke: true }, { assertions: named('a', 'b', 'c') }, async (page, w) => {
  await panelOn(page, w);
  w.verdict(0, 'fail');
  await says(page, /judging 2…/);
  await row(page, 'a').click();
  await inside(page, 'button').filter({ hasText: 'Disagree' }).click();
  await inside(page, 'textarea').fill('half a thou');
  w.expire();
  w.cut();
  w.events.push({ name: 'verdict', id: 2, data: { index: 1, id: 'b', pass: true, status: 'pass', reasoning: '' } });
  await says(page, /judging 1…/);
  equal(w.tokens, 2, 'tokens');
  const asked = w.log.filter((r) => r.path.endsWith('/events'));
  equal(asked.map((r) => [r.bearer, r.last ?? '']), [['pvt_1', ''], ['pvt_1', '1'], ['pvt_2', '1']], 'requests for events');
  equal(await inside(page, 'textarea').inputValue(), 'half a thou', 'the note');
  w.expire(); // and in the middle of a label
  await inside(page, 'button.primary').click();
  await says(page, /Recorded as your label: pass/);
  equal(w.tokens, 3, 'tokens after the label');
  w.verdict(2);
  w.finish();
  await says(page, /2 of 3 passed · 1 failed$/m);
});

inWorld('a token that is refused twice, and one that the page cannot get', { smoke: true }, { assertions: named('a') }, async (page, w) => {
  await panelOn(page, w);
  w.refuse['POST /v1/panel-tokens'] = 500;
  w.expire();
  w.cut();
  await says(page, /could not get a token/);
  w.refuse = {};
  await inside(page, 'button').filter({ hasText: 'Try again' }).click();
  w.verdict(0);
  await says(page, /1 of 1 passed/);
  await page.evaluate(() => {
    const panel = document.querySelector('proviso-panel');
    panel.getToken = async () => ({ token: 'pvt_never' });
    panel.evaluation = 'ev_other';
  });
  await says(page, /proviso refused the verdicts: the token is not valid/);
  const before = w.log.length;
  equal(w.log.slice(-2).map((r) => r.bearer), ['pvt_never', 'pvt_never'], 'tokens that were tried');
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  equal(w.log.length, before, 'requests after the refusal');
});

inWorld('a stream that is cut, events twice and out of order', { smoke: true }, { assertions: named('a', 'b', 'c', 'd') }, async (page, w) => {
  await panelOn(page, w);
  w.raw('id: 3\r\nevent: verdict\r\ndata: {"index":2,"id":"c","pass":false,\r\ndata: "status":"fail","reasoning":"later"}\r\n\r\n: a comment\n\nid: 2\nevent: verdict\ndata: {"index":2,"id":"c","pass":true,"status":"pass","reasoning":"earlier"}\n\n');
  w.raw('id: 1\nevent: verdict\ndata: {"index":0,"id":"a","pass":true,"status":"pass","reasoning":""}\n\n'.repeat(2));
  await says(page, /1 of 4 passed · 1 failed · judging 2…/);
  w.cut();
  await until(() => w.log.filter((r) => r.path.endsWith('/events')).length === 2, 'another request');
  equal(w.log.filter((r) => r.path.endsWith('/events')).at(-1).last, '3', 'Last-Event-ID');
  await until(() => w.streams.size > 0, 'a listener');
  w.raw('id: 4\nevent: verd');
  w.raw('ict\ndata: {"index":1,"id":"b","pass":true,"status":"pass","reasoning":""}\n');
  w.raw('\n');
  await says(page, /judging 1…/);
  // The end comes before the last verdict, which is lost: the panel asks once from the beginning.
  w.events.push({ name: 'verdict', id: 5, data: { index: 3, id: 'd', pass: true, status: 'pass', reasoning: '' } }, { name: 'end', id: 6, data: { score: 0.75, threshold: 0.5, passed_threshold: true } });
  w.raw('id: 6\nevent: end\ndata: {"score":0.75,"threshold":0.5,"passed_threshold":true}\n\n');
  await says(page, /3 of 4 passed · 1 failed[^]*enough/);
});

inWorld('nothing moves under a person who reads', { smoke: true }, { assertions: named('a', 'b', 'c') }, async (page, w) => {
  await panelOn(page, w);
  w.verdict(1, 'error');
  await row(page, 'b').click();
  await inside(page, '.body').waitFor();
  w.verdict(2);
  w.verdict(0, 'fail');
  w.finish({ score: null });
  const button = inside(page, 'button').filter({ hasText: 'Put failures first' });
  await button.waitFor();
  await listed(page, ['b', 'a'], 'the order of arrival');
  await button.click();
  await listed(page, ['a', 'b'], 'failures first');
  equal(await button.count(), 0, 'the button after it was used');
  ok(await inside(page, '.body').isVisible(), 'the open row is closed');
});

inWorld('a server that is gone comes back, and one that forgot says so', {}, { assertions: named('a') }, async (page, w) => {
  await panelOn(page, w);
  await says(page, /judging 1…/);
  w.refuse['GET /v1/evaluations/ev_1/events'] = 503;
  w.cut();
  await says(page, /connection to proviso is lost/);
  w.refuse['GET /v1/evaluations/ev_1/events'] = 410;
  await says(page, /no longer has the verdicts of this evaluation[^]*Without a verdict: a/);
  w.kept = { results: [{ id: 'a', pass: true, status: 'pass', reasoning: '' }], score: 1, threshold: 1, passed_threshold: true };
  await inside(page, 'button').filter({ hasText: 'Try again' }).click();
  await says(page, /All passed/);
});

inWorld('a panel that is moved keeps its state', { smoke: true }, { assertions: named('a', 'b') }, async (page, w) => {
  await panelOn(page, w);
  w.verdict(0, 'fail');
  await row(page, 'a').click();
  await inside(page, 'button').filter({ hasText: 'Disagree' }).click();
  await inside(page, 'label').filter({ hasText: 'can’t tell' }).click();
  await inside(page, 'textarea').pressSequentially('typed before the move');
  await page.evaluate(() => { const panel = document.querySelector('proviso-panel'), box = document.createElement('section'); document.querySelector('main').prepend(box); box.append(panel); });
  equal(await inside(page, 'textarea').inputValue(), 'typed before the move', 'the note');
  ok(await inside(page, 'label').filter({ hasText: 'can’t tell' }).locator('input').isChecked(), 'the choice is lost');
  w.verdict(1);
  await says(page, /1 of 2 passed · 1 failed/);
  equal(w.log.filter((r) => r.path.endsWith('/events')).length, 1, 'streams');
  // Out of the page it ends its stream, and back in the page it resumes.
  await page.evaluate(() => { window.panel = document.querySelector('proviso-panel'); window.panel.remove(); });
  await until(() => w.streams.size === 0, 'the end of the stream');
  await page.evaluate(() => document.querySelector('main').append(window.panel));
  w.finish();
  await says(page, /1 of 2 passed · 1 failed/);
  equal(await inside(page, 'textarea').inputValue(), 'typed before the move', 'the note after all');
});

inWorld('a label that fails is not lost, and can be taken back', { smoke: true }, { assertions: named('a') }, async (page, w) => {
  await panelOn(page, w);
  await page.evaluate(() => { window.told = []; document.addEventListener('proviso-label', (e) => window.told.push(e.detail)); });
  w.verdict(0, 'fail', { id: 'a' });
  await row(page, 'a').click();
  await inside(page, 'button').filter({ hasText: 'Disagree' }).click();
  await inside(page, 'textarea').fill('It is polite 👋');
  w.refuse['POST /v1/labels'] = 403;
  await inside(page, 'button.primary').click();
  await says(page, /could not be stored: proviso refused the label: the test refuses this[^]*still here/);
  equal(await inside(page, 'textarea').inputValue(), 'It is polite 👋', 'the note');
  w.refuse['POST /v1/labels'] = 'cut';
  await inside(page, 'button.primary').click();
  await until(() => w.log.filter((r) => r.path === '/v1/labels').length >= 2, 'another attempt');
  await inside(page, 'button.primary').filter({ hasText: 'Try again' }).waitFor();
  w.refuse = {};
  await inside(page, 'button.primary').click();
  await says(page, /Recorded as your label: pass/);
  const sent = w.log.filter((r) => r.path === '/v1/labels');
  equal(new Set(sent.map((r) => r.nonce)).size, 1, 'idempotency keys of one label');
  equal(sent.at(-1).body, { evaluation: 'ev_1', assertion: 'a', label: 'pass', note: 'It is polite 👋' }, 'the label');
  w.refuse['DELETE /v1/labels/lb_1'] = 500;
  await inside(page, 'button').filter({ hasText: /^Undo/ }).click();
  await says(page, /could not be taken back/);
  w.refuse = {};
  await inside(page, 'button').filter({ hasText: /^Undo/ }).click();
  await inside(page, 'textarea').waitFor();
  equal(w.labels.size, 0, 'labels at the server');
  equal(await inside(page, 'textarea').inputValue(), 'It is polite 👋', 'the note after undo');
  await inside(page, 'button.primary').click();
  await says(page, /Recorded/);
  ok(w.log.filter((r) => r.path === '/v1/labels').at(-1).nonce !== sent[0].nonce, 'a new label has the key of the old one');
  equal(await page.evaluate(() => window.told), ['pass', null, 'pass'].map((label) => ({ assertion: 'a', label, note: 'It is polite 👋' })), 'events');
});

inWorld('two panels in one page do not disturb each other', { smoke: true }, { assertions: named('a', 'b') }, async (page, w) => {
  await panelOn(page, w);
  w.verdict(0, 'fail');
  await page.evaluate(() => {
    const first = document.querySelector('proviso-panel'), second = document.createElement('proviso-panel');
    second.results = [{ id: 'other', pass: false, status: 'fail', reasoning: 'no' }];
    first.after(second);
  });
  await says(page, /0 of 1 passed/, 1);
  for (const n of [0, 1]) {
    const panel = page.locator('proviso-panel').nth(n);
    await panel.locator('button.top').first().click();
    await panel.locator('button', { hasText: 'Disagree' }).click();
    await panel.locator('textarea').fill(`note ${n}`);
  }
  await page.locator('proviso-panel').nth(1).locator('label', { hasText: 'can’t tell' }).click();
  ok(await page.locator('proviso-panel').nth(0).locator('label', { hasText: 'pass' }).locator('input').isChecked(), 'a choice in one panel changes the other');
  await page.locator('proviso-panel').nth(1).locator('button.primary').click();
  await says(page, /Recorded as your label: can’t tell/, 1);
  equal(w.labels.size, 0, 'labels of the panel that the host feeds');
  equal(await page.locator('proviso-panel').nth(0).locator('textarea').inputValue(), 'note 0', 'the note in the other panel');
  equal(await axe(page), [], 'axe');
});

inWorld('messages from other windows do nothing', { smoke: true }, { assertions: named('a') }, async (page, w) => {
  await panelOn(page, w);
  const before = await inside(page).innerText();
  await page.evaluate(() => new Promise((done) => {
    const frame = document.createElement('iframe');
    frame.sandbox = 'allow-scripts';
    document.body.append(frame);
    for (const data of [{ type: 'token', token: 'pvt_evil' }, { results: [{ id: 'evil', pass: true }] }, 'proviso-panel', { evaluation: 'x', endpoint: 'https://foreign.test' }]) {
      window.postMessage(data, '*');
      window.dispatchEvent(new MessageEvent('message', { data, origin: 'https://foreign.test' }));
      document.querySelector('proviso-panel').dispatchEvent(new MessageEvent('message', { data }));
    }
    setTimeout(done, 0);
  }));
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  equal(await inside(page).innerText(), before, 'the panel');
  const source = await (await fetch(`${w.url}/panel.js`)).text();
  ok(!/addEventListener\(["'`]message|onmessage|localStorage|sessionStorage|document\.cookie|\beval\(|new Function\(|console\./.test(source), 'panel.js listens to messages, or stores or logs something');
});

test('panel: fed by the host', { smoke: true }, () => withPage({}, async (page) => {
  const w = await world();
  try {
    w.response = { results: [{ id: 'p', pass: true, status: 'pass', reasoning: '' }, { id: 'e', pass: false, status: 'error', reasoning: 'timed out' }, { id: 'f', pass: false, status: 'fail', reasoning: 'no', criteria: [{ criterion: 'c1', pass: false, reasoning: 'no', status: 'fail' }] }, { id: 's', pass: false, status: 'skip', reasoning: '' }], score: null, threshold: 1, passed_threshold: false };
    await page.goto(`${w.host}/fed.html`);
    await says(page, /1 of 3 passed · 1 failed · 1 error · 1 skipped/);
    await listed(page, ['f', 'e'], 'the order');
    await inside(page, 'button.top').filter({ hasText: '1 passed, 1 skipped' }).click();
    await listed(page, ['f', 'e', 'p', 's'], 'the order with those that passed');
    equal(w.log.filter((r) => r.bearer.startsWith('pvt_') || r.path === '/v1/panel-tokens'), [], 'requests of the page to proviso');
    // A host whose storage fails: the note stays.
    await page.evaluate(() => { window.told = []; const panel = document.querySelector('proviso-panel'); panel.addEventListener('proviso-label', (e) => { window.told.push(e.detail); e.waitUntil(window.told.length === 1 ? Promise.reject(new Error('the disk is full')) : Promise.resolve()); }); });
    await row(page, /^.?\s*Fail: f/).click();
    await inside(page, 'button').filter({ hasText: 'Disagree' }).click();
    await inside(page, 'textarea').fill('because');
    await inside(page, 'button.primary').click();
    await says(page, /the disk is full/);
    await inside(page, 'button.primary').click();
    await says(page, /Recorded as your label/);
    await inside(page, 'button').filter({ hasText: /^Undo/ }).click();
    await inside(page, 'textarea').waitFor();
    equal(await page.evaluate(() => window.told.map((d) => d.label)), ['pass', 'pass', null], 'events');
    // Results that come in parts keep their places; a status that is running says so.
    await page.evaluate(() => { document.querySelector('proviso-panel').results = [{ id: 'z', pass: false, status: 'fail', reasoning: '' }, { id: 'f', pass: false, status: 'fail', reasoning: 'no' }, { id: 'r', pass: false, status: 'running', reasoning: '' }]; });
    await says(page, /0 of 3 passed · 2 failed · judging 1…/);
    await listed(page, ['f', 'z'], 'rows that were there come first');
    equal(await inside(page, 'textarea').inputValue(), 'because', 'the note after new results');
    await page.evaluate(() => { document.querySelector('proviso-panel').results = null; });
    await says(page, /There are no results yet/);
    const wrong = await page.evaluate(() => { try { document.querySelector('proviso-panel').results = { results: 5 }; return ''; } catch (e) { return e.message; } });
    ok(/expected an array/.test(wrong), `wrong results: ${wrong}`);
  } finally { await w.stop(); }
}));
