// The playground: what a change of the prompt, the answer or an assertion asks the judge,
// what is kept, and what bad input does.
import { axe, enter, layoutRules, open, ready, refuse, serve, view, withPage } from './harness.mjs';
import { corpus } from './hostile.mjs';
import { model } from './playmodel.mjs';
import { equal, ok, test, until } from './tests.mjs';

const says = (word) => ({ criteria: [`The output says "${word}"`] });
const three = [{ id: 'greets', instruction: 'Say hello.', ...says('hello') }, { id: 'thanks', ...says('thank') }, { id: 'short', check: { type: 'word-count', value: { max: 5 } } }];

async function api(sv, method, path, body, headers = {}) {
  const reply = await fetch(sv.server.url + path, { method, headers: { ...(body ? { 'Content-Type': 'application/json' } : {}), ...(sv.key ? { Authorization: `Bearer ${sv.key}` } : {}), ...headers }, body: body && JSON.stringify(body) });
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
  return reply.json();
}

// bench starts a server with a stored set, and a page of its playground.
async function bench(use, { set = three, delay, page: options, query = 'set=replies', ...more } = {}) {
  const m = await model({ delay }), sv = await serve([], { ...m.serve, ...more });
  try {
    if (set) await api(sv, 'PUT', '/v1/assertion-sets/replies', { assertions: set });
    await withPage(options ?? {}, async (page, o) => {
      if (!sv.key) await enter(page, sv.server, '/playground?' + query);
      await use(page, { m, sv, ...o });
    });
  } finally {
    m.close();
    await sv.server.stop();
  }
}

const answer = (page) => page.getByRole('textbox', { name: 'Answer' });
const verdicts = (page) => page.getByRole('region', { name: 'Verdicts' });
const field = (page, name) => page.getByRole('textbox', { name, exact: true });
const counts = (page, what) => verdicts(page).getByText(what).first().waitFor();
const main = (page) => page.locator('main').innerText();

test('playground: an answer is judged', { smoke: true, timeout: 90_000 }, () => bench(async (page) => {
  await answer(page).fill('hello');
  await page.keyboard.press('Control+Enter');
  await counts(page, '2 of 3 passed · 1 failed.');
}));

test('playground: paste an answer, change an assertion, judge only that one', { timeout: 90_000 }, () => bench(async (page, { m }) => {
  await answer(page).fill('hello, and goodbye');
  await counts(page, '2 of 3 passed · 1 failed.');
  equal(m.judged.sort(), ['greets', 'thanks'], 'judged at first');
  await page.getByRole('button', { name: 'Done' }).click();
  equal(await page.locator('mark').allInnerTexts(), ['hello'], 'marks');
  m.judged.length = 0;
  await field(page, 'Criterion 1 of thanks').fill('The output says "goodbye"');
  await counts(page, '3 of 3 passed.');
  equal(m.judged, ['thanks'], 'judged after the change of one');
  equal(await verdicts(page).getByText(/as of .*, on this answer/).count(), 2, 'verdicts of before');
  await field(page, 'Criterion 1 of thanks').fill('The output says "thank"');
  await counts(page, '2 of 3 passed · 1 failed.');
  equal(m.judged, ['thanks'], 'judged after the change was taken back');
  await page.getByRole('button', { name: 'Edit the answer' }).click();
  await answer(page).fill('thank you');
  await counts(page, '2 of 3 passed · 1 failed.');
  await until(() => m.judged.length === 3, 'the judge to see the new answer');
  equal(m.judged.slice(1).sort(), ['greets', 'thanks'], 'judged after the change of the answer');
  await counts(page, /From the change to the verdicts: .*All evaluations of this project: median/s);
}));

test('playground: a prompt made of its assertions is asked and judged', { timeout: 90_000 }, () => bench(async (page, { m, sv }) => {
  m.answer = 'hello, thank you';
  await field(page, /^Text/).fill('You are a shop.\n{{ assertions.instructions }}\nAsked: {{ question }} {{ tone }}');
  await field(page, 'question').fill('{{ nothing }}');
  await field(page, 'tone').fill('kind');
  await page.getByRole('button', { name: 'Preview with these values' }).click();
  const shown = 'You are a shop.\n- Say hello.\nAsked: {{ nothing }} kind';
  equal(await page.getByRole('region', { name: 'Preview of the prompt' }).innerText(), shown, 'the preview');
  await page.getByLabel('Provider').fill('openai:chat:m');
  await field(page, 'tone').press('Control+Enter');
  await counts(page, '3 of 3 passed.');
  equal(m.asked.map((a) => a.map((x) => x.content)), [[shown]], 'asked');
  ok(/provider=openai%3Achat%3Am/.test(page.url()) && !/shop|kind/.test(page.url()), `the address is ${page.url()}`);
  m.answer = 'no';
  await page.getByRole('button', { name: 'Ask' }).click();
  await counts(page, '1 of 3 passed · 2 failed.');
  await page.getByRole('button', { name: 'Undo' }).click();
  await counts(page, '3 of 3 passed.'); // their verdicts are still known
  await field(page, /^Text/).fill('You are a shop.');
  await field(page, /^Input/).fill('Is it {{ open }}?');
  await page.getByRole('button', { name: 'Ask' }).click();
  await until(() => m.asked.length === 3, 'the third question');
  equal(m.asked[2], [{ role: 'system', content: 'You are a shop.' }, { role: 'user', content: 'Is it {{ open }}?' }], 'asked as a chat');
  equal((await api(sv, 'GET', '/v1/settings')).evaluations.count >= 2, true, 'evaluations that the server counts');
}));

test('playground: verdicts come in one by one, and a change ends what nobody waits for', { timeout: 90_000 }, () => bench(async (page, { m }) => {
  m.hold();
  await answer(page).fill('hello');
  await counts(page, '1 of 3 passed · 2 being judged.'); // the check needs no model
  await until(() => m.waiting.length > 0, 'a question to the judge');
  await answer(page).fill('thank you');
  await counts(page, '1 of 3 passed · 2 being judged.');
  m.go();
  await counts(page, '2 of 3 passed · 1 failed.');
  await page.getByRole('button', { name: 'Done' }).click();
  equal(await page.locator('mark').allInnerTexts(), ['thank'], 'marks');
  m.hold();
  await page.getByRole('button', { name: 'Edit the answer' }).click();
  await answer(page).fill('neither');
  await verdicts(page).getByRole('button', { name: 'Cancel' }).click();
  await counts(page, '1 of 3 passed · 2 not judged.');
  m.go();
  await verdicts(page).getByRole('button', { name: 'Judge 2' }).click();
  await counts(page, '1 of 3 passed · 2 failed.');
}));

test('playground: assertions are added, moved, checked by code and removed, with lint under them', { timeout: 90_000 }, () => bench(async (page, { m }) => {
  await page.getByRole('button', { name: 'Add an assertion' }).click();
  await field(page, 'Criterion 1 of assertion_1').fill('The answer is good');
  await page.locator('.finding').first().waitFor();
  await page.getByRole('button', { name: 'Check by code' }).click();
  await field(page, 'Check by code, as JSON').fill('{"type": "contains"');
  await page.getByText(/This is not a valid check yet/).waitFor();
  await answer(page).fill('hello');
  await field(page, 'Criterion 1 of assertion_1').fill('');
  await field(page, 'Check by code, as JSON').fill('{"type": "contains", "value": "hello"}');
  await counts(page, '1 of 1 passed.');
  equal(m.judged.length > 1, false, 'the check asks no model');
  await field(page, 'Check by code, as JSON').fill('{"type": "contain", "value": "hello"}');
  await verdicts(page).getByText(/cannot be judged: .*contain/).waitFor();
  await page.getByRole('button', { name: 'Add an assertion' }).click();
  await field(page, 'Criterion 1 of assertion_2').fill('The output says "hello"');
  await counts(page, '1 of 2 passed · 1 cannot be judged.'); // one that cannot be read stops no other
  await page.getByRole('button', { name: 'Move assertion_2 up' }).click();
  equal(await verdicts(page).locator('.verdict-of').first().innerText().then((t) => /assertion_2/.test(t)), true, 'the order of the verdicts');
  await page.getByRole('button', { name: 'Remove assertion_1' }).click();
  await counts(page, '1 of 1 passed.');
  await page.getByRole('button', { name: 'Undo' }).click();
  await counts(page, '1 of 2 passed · 1 cannot be judged.');
}, { set: null, query: '' }));

test('playground: a set is saved, and a set that somebody else changed is not lost', { timeout: 90_000 }, () => bench(async (page, { sv }) => {
  await field(page, 'Criterion 1 of thanks').fill('The output says "thanks a lot"');
  await page.getByText(/Version 1 .*, changed here/).waitFor();
  await page.getByRole('button', { name: 'Save as set' }).click();
  await page.getByText('Saved as version 2 of replies.').waitFor();
  const theirs = [{ id: 'greets', ...says('theirs') }];
  await api(sv, 'PUT', '/v1/assertion-sets/replies', { assertions: theirs });
  await field(page, 'Criterion 1 of greets').fill('The output says "mine"');
  await page.getByRole('button', { name: 'Save as set' }).click();
  const clash = page.getByRole('alert').filter({ hasText: 'Somebody else changed' });
  await clash.waitFor();
  ok(/theirs/.test(await clash.innerText()) && /mine/.test(await clash.innerText()), 'both versions are not shown');
  equal((await api(sv, 'GET', '/v1/assertion-sets/replies')).assertions, theirs, 'what is stored after the conflict');
  await clash.getByRole('button', { name: 'Decide later' }).click();
  equal(await field(page, 'Criterion 1 of greets').inputValue(), 'The output says "mine"', 'what was typed');
  await page.getByRole('button', { name: 'Save as set' }).click();
  await clash.getByRole('button', { name: 'Save mine as the next version' }).click();
  await page.getByText('Saved as version 4 of replies.').waitFor();
  ok(JSON.stringify((await api(sv, 'GET', '/v1/assertion-sets/replies')).assertions).includes('mine'), 'mine is not stored');
  await page.getByLabel('Name of the set').fill('other');
  await page.getByRole('button', { name: 'Save as set' }).click();
  await page.getByText('Saved as version 1 of other.').waitFor();
  await page.waitForURL(/set=other/);
  await page.getByLabel('Name of the set').fill('../x');
  await page.getByRole('button', { name: 'Save as set' }).click();
  await page.getByText(/A name has 1 to 100 letters/).waitFor();
}));

test('playground: a case is saved in a dataset, and a suite is run', { timeout: 90_000 }, () => bench(async (page, { sv }) => {
  await field(page, /^Text/).fill('{{ name }} {{ place }}');
  await field(page, 'name').fill('Ann');
  for (const [place, said] of [['home', /Saved: cases has 1 case now \(version 1\)/], ['away', /Saved: cases has 2 cases now \(version 2\)/], ['away', /cases has this case already/]]) {
    await field(page, 'place').fill(place);
    await page.getByLabel('Dataset').fill('cases');
    await page.getByRole('button', { name: 'Save as case' }).click();
    await page.getByText(said).waitFor();
  }
  equal((await api(sv, 'GET', '/v1/datasets/cases')).items.map((c) => c.vars), [{ name: 'Ann', place: 'home' }, { name: 'Ann', place: 'away' }], 'what is stored');
  await api(sv, 'PUT', '/v1/suites/visits', { suite: { prompts: ['{{ name }} {{ place }}'], providers: ['echo'], tests: 'dataset:cases' } });
  await page.reload();
  await ready(page);
  await page.getByRole('button', { name: 'Run the suite' }).click();
  await page.waitForURL(/\/runs\/run_/);
  await ready(page);
  await page.goBack();
  equal(await field(page, 'place').inputValue(), 'away', 'what was typed, after the run');
}));

test('playground: texts outlive a reload and a session that ends, and no key is kept', { timeout: 120_000 }, () => bench(async (page, { sv, m }) => {
  const login = async () => { await page.getByLabel('API key').fill(sv.key); await page.getByRole('button', { name: 'Log in' }).click(); };
  await page.goto(`${sv.server.url}/login?next=${encodeURIComponent('/playground?set=replies')}`);
  await login();
  await field(page, 'Criterion 1 of thanks').fill('The output says "typed"');
  await field(page, /^Text/).fill('Prompt of {{ mine }}');
  await answer(page).fill('hello');
  await counts(page, '2 of 3 passed · 1 failed.');
  m.judged.length = 0;
  await page.reload();
  await page.getByText(/changed here/).waitFor();
  equal([await field(page, 'Criterion 1 of thanks').inputValue(), await field(page, /^Text/).inputValue()], ['The output says "typed"', 'Prompt of {{ mine }}'], 'what was typed, after a reload');
  await counts(page, '3 not judged.');
  equal(m.judged, [], 'a reload asks no model');
  await page.context().clearCookies();
  await verdicts(page).getByRole('button', { name: 'Judge 3' }).click();
  await page.getByRole('link', { name: 'Log in' }).click();
  await login();
  await page.waitForURL(/\/playground\?set=replies/);
  equal(await field(page, 'Criterion 1 of thanks').inputValue(), 'The output says "typed"', 'what was typed, after the login');
  const kept = await page.evaluate(() => JSON.stringify([document.cookie, { ...localStorage }, { ...sessionStorage }]));
  ok(kept.includes('typed') && !kept.includes('pvk_') && !kept.includes('sk-of'), 'keys are kept, or texts are not');
  await page.getByRole('navigation').getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('button', { name: 'Log out', exact: true }).click();
  await page.waitForURL(/\/login/);
  equal(await page.evaluate(() => JSON.stringify({ ...sessionStorage })), '{}', 'texts after the logout');
}, { key: 'admin' }));

test('playground: assertions of a set use its templates, changed ones too', {}, () => bench(async (page, { sv, m }) => {
  const says = { doc: 'a word that is there', params: { word: { type: 'text', doc: 'the word', required: true } }, parts: [{ text: 'The output says "{{word}}"' }] };
  await api(sv, 'PUT', '/v1/assertion-sets/house', { assertions: [{ id: 'greets', instruction: 'Say hello.', criteria: [{ template: 'says', params: { word: 'hello' } }] }], templates: { says } });
  await page.goto(sv.server.url + '/playground?set=house');
  await answer(page).fill('hello');
  await counts(page, '1 of 1 passed.');
  await page.getByRole('button', { name: 'Done' }).click();
  await field(page, 'What the agent is told').fill('Greet people.');
  await until(async () => m.judged.length === 2, 'the changed assertion is judged');
  await counts(page, '1 of 1 passed.');
}, { set: undefined, query: '' }));

test('playground: the server goes away while verdicts come in', { timeout: 120_000 }, async () => {
  const m = await model(), sv = await serve([], m.serve), o = await open();
  try {
    await api(sv, 'PUT', '/v1/assertion-sets/replies', { assertions: three });
    await enter(o.page, sv.server, '/playground?set=replies');
    m.hold();
    await answer(o.page).fill('hello');
    await counts(o.page, '1 of 3 passed · 2 being judged.');
    sv.server.process.kill('SIGKILL');
    await o.page.getByText('The server does not reply').first().waitFor();
    ok(/1 of 3 passed/.test(await main(o.page)), 'the verdict that was there is gone');
    m.go();
    sv.server = await sv.start();
    await counts(o.page, '1 of 3 passed · 2 not judged.'); // the evaluation is gone with the server
    await verdicts(o.page).getByRole('button', { name: 'Judge 2' }).click();
    await counts(o.page, '2 of 3 passed · 1 failed.');
  } finally {
    await o.close();
    m.close();
    await sv.server.stop();
  }
});

test('playground: a judge that fails is an error, which can be judged again', { timeout: 120_000 }, () => bench(async (page, { m }) => {
  m.fail = 400;
  await answer(page).fill('hello');
  await counts(page, '1 of 3 passed · 2 errors.');
  m.fail = 0;
  await verdicts(page).getByRole('button', { name: 'Judge 2 errors again' }).click();
  await counts(page, '2 of 3 passed · 1 failed.');
  m.fail = 400;
  await page.getByLabel('Provider').fill('openai:chat:m');
  await field(page, /^Text/).fill('A prompt');
  await page.getByRole('button', { name: 'Ask' }).click();
  await page.getByRole('alert').filter({ hasText: 'the test lets this fail' }).waitFor();
  equal(await answer(page).inputValue(), 'hello', 'the answer after one that failed');
}));

test('playground: hostile texts', { timeout: 120_000 }, () => bench(async (page, { m }) => {
  const texts = corpus.map((c) => (typeof c === 'string' ? c : c.text ?? c[1])).filter((t) => typeof t === 'string' && t.length < 5000);
  m.answer = texts.join('\n');
  await field(page, /^Text/).fill(texts.join(' ').replaceAll('{', '('));
  await page.getByRole('button', { name: 'Preview with these values' }).click();
  await field(page, 'What the agent is told').first().fill(texts[0]);
  await field(page, 'Criterion 1 of greets').fill(texts.at(-1).slice(0, 500));
  await page.getByLabel('Provider').fill('openai:chat:m');
  await page.getByRole('button', { name: 'Ask' }).click();
  await counts(page, /of 3 passed/);
  await page.reload();
  await ready(page);
}));

test('playground: two tabs have their own texts', { timeout: 90_000 }, () => bench(async (page, { sv, context, trouble }) => {
  const other = await context.newPage();
  trouble.length = 0; // the other tab is meant
  await other.goto(sv.server.url + '/playground?set=replies');
  await answer(page).fill('hello');
  await answer(other).fill('thank you and more than five words in all');
  await counts(page, '2 of 3 passed · 1 failed.');
  await counts(other, '1 of 3 passed · 2 failed.');
  await Promise.all([page.reload(), other.reload()]);
  await page.getByText('3 not judged').waitFor();
  ok((await main(page)).includes('hello') && (await main(other)).includes('thank you'), 'a tab has the text of the other');
}));

test('playground: without a mouse', { timeout: 90_000 }, () => bench(async (page) => {
  const to = async (name) => {
    for (let i = 0; i < 80; i++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate((name) => { const e = document.activeElement; return (e?.getAttribute('aria-label') || e?.labels?.[0]?.textContent || e?.textContent || '').trim().startsWith(name); }, name)) return;
    }
    throw new Error(`${name} was not reached`);
  };
  await field(page, 'Criterion 1 of thanks').waitFor();
  await to('Text');
  await page.keyboard.type('You are kind.');
  await to('Provider');
  await page.keyboard.type('echo');
  await page.keyboard.press('Enter');
  await counts(page, '1 of 3 passed · 2 failed.');
  for (let i = 0; i < 60 && !(await page.evaluate(() => document.activeElement?.textContent === 'Add an assertion')); i++) await page.keyboard.press('Shift+Tab');
  await page.keyboard.press('Enter');
  await until(() => page.evaluate(() => document.activeElement?.id.startsWith('instruction-')), 'the focus in the new assertion');
  await page.keyboard.press('Tab');
  await page.keyboard.type('The output says "kind"');
  await counts(page, '2 of 4 passed · 2 failed.');
}));

test('playground: proviso view has none, and a key that may not evaluate is told why', { timeout: 90_000 }, () => withPage({}, async (page) => {
  const v = await view('support', 'before', 'repeats', 'passed');
  await enter(page, v, '/playground');
  await page.getByText('proviso view shows runs, and asks no models.', { exact: false }).waitFor();
  equal(await page.getByRole('navigation').getByRole('link', { name: 'Playground' }).count(), 0, 'links in proviso view');
  const sv = await serve([], { key: 'read' });
  await page.goto(`${sv.server.url}/login?next=%2Fplayground`);
  await page.getByLabel('API key').fill(sv.key);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByText('Your key may not evaluate').waitFor();
  equal(await page.getByRole('navigation').getByRole('link', { name: 'Playground' }).count(), 0, 'links for a reader');
  equal(await axe(page), [], 'axe');
  await sv.server.stop();
}));

for (const theme of ['light', 'dark']) {
  test(`axe: playground, every state, ${theme}`, { timeout: 180_000 }, () => bench(async (page, { m, sv }) => {
    const look = async (what) => {
      equal(await axe(page), [], what);
      for (const width of [320, 768, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        equal(await axe(page, layoutRules), [], `${what}, ${width} wide`);
        ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${what}: the page scrolls sideways at ${width}`);
      }
    };
    await field(page, 'Criterion 1 of thanks').waitFor();
    await look('a set without an answer');
    m.hold();
    await answer(page).fill('hello '.repeat(300));
    await counts(page, /being judged/);
    await look('verdicts that come in');
    m.go();
    await counts(page, /1 of 3 passed · 2 failed/);
    await page.getByRole('button', { name: 'Done' }).click();
    await look('an answer with verdicts');
    await field(page, 'Criterion 1 of thanks').fill('The answer is good');
    await page.locator('.finding').first().waitFor();
    await api(sv, 'PUT', '/v1/assertion-sets/replies', { assertions: three.slice(1) });
    await page.getByRole('button', { name: 'Save as set' }).click();
    await page.getByText('Somebody else changed').waitFor();
    await look('a conflict');
    await refuse(page, '**/v1/answers');
    await page.getByLabel('Provider').fill('echo');
    await field(page, /^Text/).fill('{{ one }} {{ two }}');
    await page.getByRole('button', { name: 'Preview with these values' }).click();
    await page.getByRole('button', { name: 'Ask' }).click();
    await page.getByText('the test refuses this request').waitFor();
    await look('an answer that failed');
    await page.goto(sv.server.url + '/playground?set=nothing&prompt=nothing');
    await page.getByRole('alert').waitFor();
    await look('a set that is not there');
  }, { page: { theme } }));
}

// The promise of the page, with a judge that takes two seconds for each answer. The limit
// is generous, because machines are slow; the table of the benchmark has the time.
const ten = Array.from({ length: 10 }, (_, i) => ({ id: `promise_${i}`, criteria: [`The output says "word${i}"`] }));

async function change(page, m, text, what) {
  const from = Date.now();
  await answer(page).fill(text);
  await counts(page, what);
  return Date.now() - from;
}

test('playground: ten verdicts of a slow judge after a change', { timeout: 120_000 }, () => bench(async (page, { m }) => {
  const ms = await change(page, m, 'word1 word2', '2 of 10 passed · 8 failed.');
  ok(ms >= m.delay && ms < 30_000, `ten verdicts took ${ms} ms`);
}, { set: ten, delay: 2000 }));

test('budget: playground', { bench: true, timeout: 300_000 }, () => bench(async (page, { m }) => {
  const all = [], one = [];
  await page.getByText('There is no answer yet').waitFor();
  for (let i = 0; i < 5; i++) {
    all.push(await change(page, m, `word${i} and ${i}`, '1 of 10 passed · 9 failed.'));
    const from = Date.now();
    await field(page, 'Criterion 1 of promise_9').fill(`The output says "and ${i}"`);
    await counts(page, '2 of 10 passed · 8 failed.');
    one.push(Date.now() - from);
  }
  const show = (what, list) => console.log(`     ${Math.max(...list) <= 10_000 ? 'ok  ' : 'OVER'} ${what.padEnd(64)} median ${list.sort((a, b) => a - b)[2]} ms, most ${list[4]} ms, ≤ 10000`);
  show('a change of the answer to 10 verdicts, judge of 2 s', all);
  show('a change of one assertion to its verdict, judge of 2 s', one);
}, { set: ten, delay: 2000 }));
