// People label outputs: queues, the page on which they are labelled, and the verdicts of a
// run. The server is the real one, over a database.
import { enter, layoutRules, made, open, proviso, ready, serve, view, withPage } from './harness.mjs';
import { fine } from './app.browser.mjs';
import { corpus } from './hostile.mjs';
import { equal, ok, test, until } from './tests.mjs';
import { drawer } from './screens.mjs';

const json = { 'Content-Type': 'application/json' };

// api asks a server without a session, or with a key.
async function api(s, method, path, body, key) {
  const reply = await fetch(s.server.url + path, { method, headers: { ...json, ...(key ? { Authorization: `Bearer ${key}` } : {}) }, body: body && JSON.stringify(body) });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
}

// queue makes a server with a run and a queue of it.
async function queue(more = {}, options) {
  const s = await serve(['support'], options);
  await api(s, 'PUT', '/v1/label-queues/tone', { run: s.runs.support, assertions: ['tone'], random: 2, ...more }, s.key);
  s.labels = async (q = '') => (await api(s, 'GET', `/v1/labels?queue=tone${q}`, undefined, s.key)).items;
  return s;
}
const withQueue = async (more, use, options) => {
  const s = await queue(more);
  try { await withPage(options ?? {}, (page, o) => use(page, s, o)); } finally { await s.server.stop(); }
};

const pass = (page) => page.getByRole('button', { name: '1 Pass' });
const note = (page) => page.getByLabel('Note (N)');
const caseOf = (page) => page.locator('.itemname').innerText();
const at = (page, n, all) => page.getByText(`${n} of ${all}`, { exact: true }).first().waitFor();
const focusOff = (page) => page.evaluate(() => document.activeElement?.blur());

// press sends a key and waits until another item is open.
async function press(page, key) {
  const before = await caseOf(page);
  await page.keyboard.press(key);
  await until(async () => (await page.locator('.itemname').count()) && (await caseOf(page)) !== before, `another item after ${key}`);
}

test('label: from a run to the first labels, by keys only', { smoke: true }, async () => {
  const s = await serve(['support']);
  try {
    await withPage({}, async (page) => {
      await enter(page, s.server, `/runs/${s.runs.support}`);
      await page.getByRole('link', { name: 'Label this run' }).press('Enter');
      await page.getByLabel('Name').waitFor();
      await page.getByLabel('Name').fill('tone');
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/label\/tone$/);
      await pass(page).waitFor();
      await at(page, 0, 45);
      equal(await page.getByText('The judge said', { exact: true }).count(), 0, 'verdicts of the judge at a blind item');
      await focusOff(page);
      await press(page, '1');
      await page.getByText(/^Saved: Pass\. The judge said/).waitFor();
      await press(page, '2');
      await press(page, '3');
      const skipped = await caseOf(page);
      await press(page, 's');
      await at(page, 3, 45);
      await page.keyboard.press('n');
      await page.keyboard.type('123su? curt');
      equal(await note(page).inputValue(), '123su? curt', 'keys in the note');
      await page.keyboard.press('Escape');
      await press(page, '2');
      await at(page, 4, 45);
      const labels = (await api(s, 'GET', '/v1/labels?queue=tone')).items;
      equal(labels.map((l) => [l.label, l.note ?? '']), [['fail', '123su? curt'], ['unsure', ''], ['fail', ''], ['pass', '']], 'labels, newest first');
      ok(labels.every((l) => l.assertion === 'tone' && l.stratum === 'random'), `the labels are ${JSON.stringify(labels[0])}`);
      await page.keyboard.press('u');
      await page.getByText('Undone: your label Fail is removed.').waitFor();
      equal(await note(page).inputValue(), '123su? curt', 'the note after an undo');
      await press(page, '1');
      await at(page, 4, 45);
      equal((await api(s, 'GET', '/v1/labels?queue=tone')).items[0].label, 'pass', 'the label after the undo');
      await page.keyboard.press('ArrowLeft');
      await page.waitForURL(/done=label_/);
      await until(async () => (await pass(page).getAttribute('aria-pressed')) === 'true', 'the answer of before');
      await page.keyboard.press('2');
      await page.getByText(/^Changed to Fail/).waitFor();
      equal((await api(s, 'GET', '/v1/labels?queue=tone')).items[0].note, '123su? curt', 'the note of the changed label');
      await page.keyboard.press('ArrowRight');
      await page.waitForURL((u) => !u.search);
      await page.keyboard.press('?');
      await page.getByRole('dialog', { name: 'Keys' }).waitFor();
      await page.getByLabel(/Single-key shortcuts/).uncheck();
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      const still = await caseOf(page);
      await focusOff(page);
      await page.keyboard.press('1');
      await pass(page).click(); // every shortcut has a button
      await until(async () => (await caseOf(page)) !== still, 'the next item');
      await at(page, 5, 45);
      ok((await caseOf(page)) !== skipped, 'the skipped item is back at once');
    });
  } finally {
    await s.server.stop();
  }
});

test('label: the end of a queue, skipped items, and agreement', {}, () => withQueue({ size: 3, random: 3, blind: false }, async (page, s) => {
  await enter(page, s.server, '/label/tone');
  await page.getByText('The judge said', { exact: true }).waitFor(); // the queue is not blind
  const skipped = await caseOf(page);
  await press(page, 's');
  const other = await until(() => api(s, 'POST', '/v1/label-queues/tone/lease', {}), 'the skipped item for somebody else');
  ok(skipped.includes(other.item.case), `somebody else gets ${other.item.case} after ${skipped} was skipped`);
  await api(s, 'DELETE', `/v1/label-queues/tone/lease/${other.lease}`);
  await page.reload();
  await ready(page);
  await pass(page).waitFor();
  ok((await caseOf(page)) !== skipped, 'the skipped item is back after a reload');
  await press(page, '1');
  await page.keyboard.press('1');
  await page.getByText('There is nothing left for you to label').waitFor();
  await fine(page);
  await page.getByRole('button', { name: 'Show the 1 item that you skipped' }).click();
  await pass(page).click();
  await page.getByText('There is nothing left for you to label').waitFor();
  equal((await s.labels()).length, 3, 'labels');
  await page.getByRole('link', { name: 'Agreement' }).click();
  await page.getByText('3 of 3', { exact: false }).first().waitFor();
  await page.getByRole('table', { name: 'Agreement of people with the judge' }).waitFor();
  await fine(page);
  await page.getByRole('button', { name: 'Remove the queue' }).click();
  await page.getByRole('button', { name: 'Remove tone; its labels stay' }).click();
  await page.getByText('There is nothing to label yet').waitFor();
  equal((await api(s, 'GET', '/v1/labels')).items.length, 3, 'labels after the queue was removed');
}));

test('label: selected text is evidence, in UTF-16 units', {}, () => withQueue({}, async (page, s) => {
  await enter(page, s.server, '/label/tone');
  const output = page.locator('.output bdi.text');
  await output.waitFor();
  const text = await output.innerText(), wanted = text.split(' ').slice(2, 5).join(' ');
  const places = await output.evaluate((e, wanted) => {
    const node = e.firstChild, at = node.data.indexOf(wanted), box = (from, to) => { const r = document.createRange(); r.setStart(node, from); r.setEnd(node, to); return r.getBoundingClientRect(); };
    const a = box(at, at + 1), b = box(at + wanted.length - 1, at + wanted.length);
    return [a.left + 1, a.top + a.height / 2, b.right - 1, b.top + b.height / 2];
  }, wanted);
  await page.mouse.move(places[0], places[1]);
  await page.mouse.down();
  await page.mouse.move(places[2], places[3], { steps: 5 });
  await page.mouse.up();
  await page.getByRole('list', { name: 'Evidence' }).getByText(wanted).waitFor();
  equal(await page.locator('.output mark').allInnerTexts(), [wanted], 'marks in the output');
  await page.getByText('Add a quote').click();
  await page.getByLabel('Text of the output').fill('nothing like it');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('This text is not in the output.').waitFor();
  await page.getByLabel('Text of the output').fill(text.slice(0, 4));
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await until(async () => (await page.locator('.output mark').count()) === 2, 'two marks');
  await page.getByRole('button', { name: 'Remove evidence 1' }).click();
  await page.getByRole('button', { name: '2 Fail' }).click();
  await until(async () => (await s.labels()).length === 1, 'the label');
  const [l] = await s.labels();
  equal(l.evidence.map((e) => text.slice(e.start, e.end)), [wanted], 'the evidence of the label');
}));

test('label: offsets count what escapes stand for', {}, () => withPage({}, async (page) => {
  const server = await view('hostile'), id = made('hostile', 'hostile').id;
  await enter(page, server, `/label?run=${id}`);
  await page.getByLabel('Assertions that I choose').check();
  await page.getByRole('group', { name: 'Assertions', exact: true }).getByText('<script>').first().waitFor();
  const made_ = await page.evaluate(async (run) => (await fetch('/v1/label-queues/h', { method: 'PUT', headers: { 'Content-Type': 'application/json', 'X-Proviso': '1' }, body: JSON.stringify({ run, assertions: [''], random: 0 }) })).status, id);
  ok(made_ === 201 || made_ === 200, `the queue gives ${made_}`);
  await page.goto(`${server.url}/label/h`);
  for (let n = 0; n < 2 * corpus.length; n++) {
    await page.locator('.itemname').waitFor();
    const box = page.locator('.item .output bdi.text');
    if (await box.count()) {
      const got = await box.evaluate((e) => { // everything is selected, as a finger does it
        const r = document.createRange(); r.selectNodeContents(e);
        const s = getSelection(); s.removeAllRanges(); s.addRange(r);
        return e.textContent.length;
      });
      ok(got > 0, 'an output without text');
      const use = page.getByRole('button', { name: 'Use the selected text as evidence' });
      if (await use.waitFor({ timeout: 3000 }).then(() => true, () => false)) await use.click();
    }
    const last = await page.evaluate(() => document.querySelector('.queuecounts strong')?.textContent);
    await page.getByRole('button', { name: '2 Fail' }).click();
    await until(async () => (await page.getByText('nothing left for you').count()) || (await page.evaluate(() => document.querySelector('.queuecounts strong')?.textContent)) !== last, 'the next item');
    equal(await page.getByText('Not saved').count(), 0, 'labels that the server refused');
    if (await page.getByText('nothing left for you').count()) break;
  }
  const labels = await page.evaluate(async () => (await (await fetch('/v1/labels?queue=h&limit=200')).json()).items);
  ok(labels.length > 20, `${labels.length} labels`);
  for (const l of labels.filter((x) => x.evidence)) {
    const output = await page.evaluate(async ([run, index]) => (await (await fetch(`/v1/runs/${run}/results/${index}/detail`)).json()).output, [id, l.index]);
    const { start, end } = l.evidence[0];
    if (output.length <= 20_000) equal([start, end], [output.length - output.trimStart().length, output.trimEnd().length], `evidence of ${JSON.stringify(output.slice(0, 60))}`);
  }
}));

test('label: the server is gone, and a label is kept', {}, async () => {
  const s = await queue();
  const o = await open();
  try {
    const { page } = o;
    await enter(page, s.server, '/label/tone');
    await pass(page).waitFor();
    await note(page).fill('typed before');
    await s.server.stop();
    const before = await caseOf(page);
    await page.getByRole('button', { name: '2 Fail' }).click();
    await page.getByText('Not saved yet: Fail.').waitFor();
    equal([await caseOf(page), await note(page).inputValue()], [before, 'typed before'], 'the item without a server');
    await fine(page);
    s.server = await s.start();
    await until(async () => (await caseOf(page).catch(() => before)) !== before, 'the next item, when the server is back');
    const labels = await s.labels();
    equal(labels.map((l) => [l.label, l.note]), [['fail', 'typed before']], 'the label');
    equal(o.trouble.filter((t) => !/fetch|ERR_CONNECTION/i.test(t)), [], 'trouble');
  } finally {
    await o.close();
    await s.server.stop();
  }
});

test('label: a reply that is lost writes one label', {}, () => withQueue({}, async (page, s) => {
  await enter(page, s.server, '/label/tone');
  await pass(page).waitFor();
  let lost = 0;
  await page.route('**/v1/labels', async (route) => {
    if (route.request().method() !== 'POST' || lost++) return route.continue();
    await route.fetch(); // the server has it, and the page does not know
    return route.abort();
  });
  const before = await caseOf(page);
  await page.keyboard.press('1');
  await page.getByText('Not saved yet: Pass.').waitFor();
  await page.getByRole('button', { name: 'Send now' }).click();
  await until(async () => (await caseOf(page)) !== before, 'the next item');
  equal((await api(s, 'GET', '/v1/labels?queue=tone&history=yes')).items.length, 1, 'labels, replaced ones too');
}));

test('label: a session that ends keeps the answer', {}, async () => {
  const s = await queue({}, { key: 'admin' });
  try {
    await withPage({}, async (page) => {
      const login = async () => { await page.getByLabel('API key').fill(s.key); await page.getByRole('button', { name: 'Log in' }).click(); };
      await page.goto(`${s.server.url}/login?next=%2Flabel%2Ftone`);
      await login();
      await pass(page).waitFor();
      await note(page).fill('kept over a login');
      await page.context().clearCookies();
      await page.getByRole('button', { name: '2 Fail' }).click();
      await page.getByText(/Your session has ended\. Log in: the answer is kept/).waitFor();
      await page.getByRole('link', { name: 'Log in' }).click();
      await login();
      await page.waitForURL(/\/label\/tone$/);
      await until(async () => (await s.labels()).length === 1, 'the label');
      equal((await s.labels()).map((l) => [l.label, l.note]), [['fail', 'kept over a login']], 'the label after the login');
      await at(page, 1, 45);
    });
  } finally {
    await s.server.stop();
  }
});

test('label: a reload keeps the item and the note', {}, () => withQueue({}, async (page, s) => {
  await enter(page, s.server, '/label/tone');
  await pass(page).waitFor();
  await press(page, '1');
  await note(page).fill('half a sen');
  const before = await caseOf(page);
  await page.reload();
  await pass(page).waitFor();
  equal([await caseOf(page), await note(page).inputValue()], [before, 'half a sen'], 'after a reload');
  await page.keyboard.press('u');
}));

test('label: two windows, one item', {}, () => withQueue({}, async (page, s, { context, trouble }) => {
  await enter(page, s.server, '/label/tone');
  await pass(page).waitFor();
  await note(page).fill('typed in the first window');
  const second = await context.newPage();
  await second.goto(`${s.server.url}/label/tone`);
  await pass(second).waitFor();
  ok((await caseOf(second)) !== (await caseOf(page)), 'both windows have the same item');
  // The same person labels the item of the first window, at the run.
  const open_ = await page.evaluate(() => JSON.parse(Object.entries(sessionStorage).find(([k]) => k === 'proviso.label/tone')[1]).lease);
  await second.evaluate(async ([lease]) => {
    const { item } = await (await fetch('/v1/label-queues/tone/lease', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Proviso': '1' }, body: JSON.stringify({ lease, seconds: 300 }) })).json();
    await fetch('/v1/labels', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Proviso': '1' }, body: JSON.stringify({ run: item.run, index: item.index, assertion: item.assertion, label: 'fail' }) });
    const c = new BroadcastChannel('proviso-labels');
    c.postMessage({ key: JSON.stringify([item.run, item.index, item.assertion]), said: 'fail' });
  }, [open_]);
  await page.getByText('You labelled this item in another window: Fail.').waitFor();
  equal(await note(page).inputValue(), 'typed in the first window', 'the note');
  await fine(page);
  await page.getByRole('button', { name: 'Send Fail with this note' }).click();
  await until(async () => (await s.labels()).some((l) => l.note === 'typed in the first window'), 'the label with the note');
  trouble.splice(0, trouble.length, ...trouble.filter((t) => !t.startsWith('window:')));
}));

test('label: two people, and their agreement', {}, async () => {
  const s = await queue({ people: 2, size: 4, random: 4 }, { key: 'admin' });
  const key = async (name, scope) => /pvk_\S+/.exec((await proviso(['key', 'create', name, '--db', s.db, '--scope', scope])).stdout)[0];
  try {
    for (const [name, scope, answers] of [['ana', 'label', '1112'], ['ben', 'label,read', '1122']]) {
      const secret = await key(name, scope);
      await withPage({}, async (page) => {
        await page.goto(`${s.server.url}/login?next=%2Flabel%2Ftone`);
        await page.getByLabel('API key').fill(secret);
        await page.getByRole('button', { name: 'Log in' }).click();
        for (let i = 0; i < answers.length; i++) {
          await at(page, i, 4);
          await focusOff(page);
          await page.keyboard.press(answers[i]);
        }
        await page.getByText('There is nothing left for you to label').waitFor();
        equal(/The judge said/.test(await page.locator('main').innerText()), name === 'ben', `what the judge said is shown to ${name}`);
        await page.getByRole('link', { name: 'Agreement' }).click();
        await page.getByRole('table', { name: 'Agreement of people with the judge' }).waitFor();
        if (name === 'ben') await page.getByRole('table', { name: 'Agreement between people' }).getByText(/^3 of 4, 75 %/).waitFor();
        await fine(page);
      });
    }
    equal((await s.labels()).length, 8, 'labels');
  } finally {
    await s.server.stop();
  }
});

test('label: a key that may only label begins with its queues', {}, async () => {
  const s = await queue({}, { key: 'admin' });
  try {
    const secret = /pvk_\S+/.exec((await proviso(['key', 'create', 'ana', '--db', s.db, '--scope', 'label'])).stdout)[0];
    await withPage({}, async (page) => {
      await page.goto(`${s.server.url}/`);
      await page.goto(`${s.server.url}/login`);
      await page.getByLabel('API key').fill(secret);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.waitForURL(/\/label$/);
      await page.getByRole('link', { name: 'tone', exact: true }).waitFor();
      equal((await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts()).join(), 'Label,Settings,API docs', 'pages');
      await page.getByRole('link', { name: 'proviso' }).click();
      await page.waitForURL(/\/label$/);
      await page.getByRole('link', { name: 'Settings' }).click();
      await page.getByRole('button', { name: 'Log out', exact: true }).click();
      await page.waitForURL(/\/login/);
    });
  } finally {
    await s.server.stop();
  }
});

test('label: the time with an item ends, and typing keeps it', {}, () => withQueue({}, async (page, s) => {
  await page.clock.install();
  await enter(page, s.server, '/label/tone');
  await pass(page).waitFor();
  let renewals = 0;
  page.on('request', (r) => { if (/lease$/.test(r.url()) && /"lease"/.test(r.postData() ?? '')) renewals++; });
  await page.clock.fastForward(250_000);
  await page.getByText(/This item is reserved for you for \d+ s more/).waitFor();
  await fine(page);
  await note(page).pressSequentially('a');
  await until(() => renewals > 0, 'the lease to be renewed');
  await page.getByText(/This item is reserved for you for/).waitFor({ state: 'detached' });
  await page.clock.fastForward(310_000);
  await page.getByText(/Your reservation of this item has ended/).waitFor();
  await fine(page, layoutRules);
  const before = await caseOf(page);
  await page.getByRole('button', { name: '2 Fail' }).click();
  await until(async () => (await caseOf(page).catch(() => before)) !== before, 'the next item');
  equal((await s.labels()).map((l) => [l.label, l.note]), [['fail', 'a']], 'the label');
}));

test('label: a run that is gone, a queue that does not exist', {}, () => withQueue({}, async (page, s) => {
  await enter(page, s.server, '/label/none');
  await page.getByRole('alert').getByText(/none/).waitFor();
  await fine(page);
  await enter(page, s.server, '/label/tone');
  await pass(page).waitFor();
  await note(page).fill('for nothing');
  await page.route('**/v1/labels', (route) => route.fulfill({ status: 404, contentType: 'application/problem+json', body: JSON.stringify({ type: 'about:blank', title: 'not found', status: 404, detail: 'there is no run' }) }));
  await page.getByRole('button', { name: '2 Fail' }).click();
  await page.getByText('Not saved: not found.').waitFor();
  equal(await note(page).inputValue(), 'for nothing', 'the note');
}));

test('label: disagree at a run, in proviso view', {}, () => withPage({}, async (page) => {
  const into = 'support+before+repeats', server = await view('support', 'before', 'repeats'), run = made('support', into).id;
  await enter(page, server, `/runs/${run}`);
  const box = drawer(page), card = box.getByRole('region', { name: 'tone' });
  await card.getByRole('button', { name: 'Disagree with the verdict on tone' }).click();
  await card.getByLabel('Why?').fill('curt, but right');
  await card.getByRole('button', { name: 'Send' }).click();
  await card.getByText('Recorded as your label: pass.').waitFor();
  await card.getByText('1 person: pass').waitFor();
  await page.reload();
  await ready(page);
  await card.getByText('1 person: pass').waitFor();
  await card.getByText('“curt, but right”').waitFor();
  await fine(page, layoutRules);
  await card.getByRole('button', { name: 'Disagree with the verdict on tone' }).click();
  await card.getByLabel('can’t tell').check();
  await card.getByRole('button', { name: 'Send' }).click();
  await card.getByText('1 person: can’t tell').waitFor();
  await card.getByRole('button', { name: 'Undo' }).click();
  await card.getByText('1 person: pass').waitFor(); // the earlier label is in force again
}));

// Every state of the pages, in both themes and at every width.
for (const [name, path, prepare] of [
  ['the queues', '/label', undefined],
  ['the form', (s) => `/label?run=${s.runs.support}`, async (page) => { await page.getByLabel('Assertions that I choose').check(); await page.getByRole('checkbox', { name: /^tone/ }).waitFor(); }],
  ['an item', '/label/tone', async (page) => { await pass(page).waitFor(); await page.getByText('Add a quote').click(); }],
  ['a label', '/label/tone', async (page) => { await pass(page).waitFor(); await press(page, '2'); await page.keyboard.press('ArrowLeft'); await page.waitForURL(/done=/); await page.getByText('Your labels').click(); }],
]) {
  test(`label: axe, ${name}, every width and theme`, {}, () => withQueue({}, async (page, s) => {
    for (const theme of ['light', 'dark']) {
      for (const [width, height] of [[1440, 900], [768, 1024], [320, 640]]) {
        await page.setViewportSize({ width, height });
        await page.emulateMedia({ colorScheme: theme });
        await enter(page, s.server, typeof path === 'function' ? path(s) : path);
        await prepare?.(page);
        await fine(page);
      }
    }
  }));
}

test('label: loading, error and empty', {}, () => withQueue({}, async (page, s) => {
  await page.route('**/v1/label-queues/tone/lease', (route) => route.fulfill({ status: 500, contentType: 'application/problem+json', body: JSON.stringify({ type: 'about:blank', title: 'internal error', status: 500, detail: 'the test refuses this request' }) }));
  await enter(page, s.server, '/label/tone');
  await page.getByRole('alert').waitFor();
  await fine(page);
  await page.unroute('**/v1/label-queues/tone/lease');
  await page.getByRole('button', { name: 'Try again' }).click();
  await pass(page).waitFor();
  await enter(page, s.server, '/label?q=nothing-has-this-name');
  await page.getByText('No queue matches this filter').waitFor();
  await fine(page);
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await page.getByRole('link', { name: 'tone', exact: true }).waitFor();
}));
