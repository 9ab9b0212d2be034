// Bad input, and a server that does not always reply.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { enter, folder, made, open, ready, serve, start, view, withPage } from './harness.mjs';
import { counts, drawer } from './screens.mjs';
import { equal, ok, patience, test, until } from './tests.mjs';

const all = ['cut', 'newer', 'large', 'wide', 'support'];
const server = () => view(...all);
const id = (name) => made(name, all.join('+')).id;
const main = (page) => page.locator('main').innerText();

test('state: a run that was cut off', { smoke: true }, () => withPage({}, async (page) => {
  await enter(page, await server(), `/runs/${id('cut')}`);
  const text = await main(page);
  ok(/\b31\b/.test(text) && /\b80\b/.test(text), `31 of 80 rows is not on the page: ${text.slice(0, 400)}`);
  ok(/unfinished|not finished|interrupted|cut off|stopped|resume/i.test(text), `nothing says that the run has not finished: ${text.slice(0, 400)}`);
}));

test('state: a file of a newer version', { smoke: true }, () => withPage({}, async (page) => {
  await enter(page, await server(), `/runs/${id('newer')}`);
  ok(/format 2|newer/i.test(await main(page)), `nothing says that the file is of a newer version: ${(await main(page)).slice(0, 400)}`);
  await enter(page, await server(), '/runs');
  ok((await main(page)).includes('support-bot'), 'a file of a newer version hides the other runs');
}));

test('state: an output of 10 MB', { smoke: true }, () => withPage({}, async (page) => {
  await enter(page, await server(), `/runs/${id('large')}`);
  await page.getByRole('gridcell').first().click();
  const box = drawer(page);
  await box.getByText('All work and no play.').first().waitFor();
  const length = await page.evaluate(() => document.body.textContent.length);
  ok(length < 2e6, `the page has ${length} characters of the output`);
  ok(await box.getByRole('link', { name: /whole|full|all|download|complete/i }).count(), 'no link leads to the whole output');
}));

test('state: a run that does not exist', { smoke: true }, () => withPage({}, async (page) => {
  await enter(page, await server(), '/runs/20200101-000000-none');
  ok(/no run|not found|does not exist/i.test(await main(page)), `the page says: ${(await main(page)).slice(0, 200)}`);
}));

test('state: a page that does not exist', {}, () => withPage({}, async (page) => {
  await enter(page, await server(), '/nothing-here');
  ok(/not found|no page/i.test(await main(page)), `the page says: ${(await main(page)).slice(0, 200)}`);
}));

// The run is a real one, whose answers wait for files.
test('state: a run that is going on', { smoke: true }, () => withPage({}, async (page) => {
  const dir = join(folder, 'live'), runs = join(dir, 'runs'), rows = 12;
  mkdirSync(runs, { recursive: true });
  writeFileSync(join(dir, 'answer.sh'), `while [ ! -e "${dir}/go-$1" ]; do sleep 0.05; done\necho "answer $1"\n`);
  writeFileSync(join(dir, 'proviso.yaml'), JSON.stringify({
    description: 'live run', prompts: ['{{n}}'], providers: [`exec: sh ${dir}/answer.sh`],
    tests: Array.from({ length: rows }, (_, n) => ({ description: `live case ${n}`, vars: { n: String(n) }, assert: [{ type: 'not-contains', value: 'answer 3' }] })),
  }));
  const env = { ...process.env, XDG_STATE_HOME: join(dir, 'state'), XDG_CACHE_HOME: join(dir, 'cache') };
  const child = spawn(process.env.PROVISO ?? new URL('../../proviso', import.meta.url).pathname, ['eval', '-c', join(dir, 'proviso.yaml'), '--run-dir', runs, '-j', '2', '--no-cache'], { env, stdio: 'ignore' });
  const ended = new Promise((resolve) => child.on('exit', resolve));
  try {
    const go = (from, to) => { for (let n = from; n < to; n++) writeFileSync(join(dir, `go-${n}`), ''); };
    go(0, 4);
    await until(() => readdirSync(runs).length > 0, 'the folder of the run');
    const sv = await start(['view', runs, '--addr', '127.0.0.1:0', '--no-open']);
    await enter(page, sv, '/runs');
    await page.getByRole('link', { name: /live run/ }).first().click();
    await page.waitForURL(/\/runs\/./);
    await page.getByText(/\b4 of 12\b/).first().waitFor();
    const top = () => page.getByRole('grid').evaluate((e) => Math.round(e.getBoundingClientRect().top));
    const before = await top();
    go(4, 8);
    await page.getByText(/\b8 of 12\b/).first().waitFor();
    equal(await top(), before, 'the place of the matrix after rows came in');
    go(8, rows);
    await ended;
    await page.getByRole('button', { name: /^All 12\b/ }).waitFor();
    equal(await counts(page), { pass: 11, fail: 1, error: 0, skip: 0 }, 'counts at the end');
    await sv.stop();
  } finally {
    child.kill('SIGKILL');
  }
}));

test('state: the server goes away and comes back', { smoke: true }, async () => {
  const s = await serve(['support']);
  const o = await open();
  try {
    await enter(o.page, s.server, `/runs/${s.runs.support}`);
    const before = await main(o.page);
    await s.server.stop();
    await o.page.getByRole('link', { name: 'Assertions' }).first().click();
    await o.page.getByText(/does not reply/).first().waitFor();
    await o.page.goBack();
    await ready(o.page);
    s.server = await s.start();
    await o.page.getByText(/does not reply/).first().waitFor({ state: 'detached', timeout: patience });
    await until(async () => (await main(o.page)).slice(0, 40) === before.slice(0, 40), 'the run to be on the page again');
    equal(o.trouble.filter((t) => !/fetch|ERR_CONNECTION|load module|dynamically imported/i.test(t)), [], 'trouble');
  } finally {
    await o.close();
    await s.server.stop();
  }
});

test('state: a session that has ended', { smoke: true }, async () => {
  const s = await serve(['support'], { key: 'admin' });
  try {
    await withPage({}, async (page) => {
      await page.goto(`${s.server.url}/runs`);
      const login = async () => {
        await page.getByLabel(/key/i).first().fill(s.key);
        await page.getByRole('button', { name: /log in/i }).click();
      };
      if (await page.getByRole('link', { name: /log in/i }).first().waitFor({ timeout: 5000 }).then(() => true, () => false)) {
        await page.getByRole('link', { name: /log in/i }).first().click();
      }
      await login();
      await page.getByRole('link', { name: /support-bot/ }).first().click();
      await page.waitForURL(/\/runs\/./);
      await ready(page);
      const at = page.url();
      await page.context().clearCookies();
      await page.reload();
      await page.getByRole('link', { name: /log in/i }).first().click();
      await login();
      await page.waitForURL(at);
      await page.getByRole('grid').waitFor();
      ok(!(await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]))).includes(s.key), 'the key is where scripts can read it');
    });
  } finally {
    await s.server.stop();
  }
});
