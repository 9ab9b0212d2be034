// What a page weighs: requests, bytes and elements. These do not depend on the machine.
import { statSync } from 'node:fs';
import { cold, enter, made, view, withPage } from './harness.mjs';
import { report } from './report.browser.mjs';
import { drawer } from './screens.mjs';
import { ok, test } from './tests.mjs';

const maxRequests = 8, maxCode = 60 * 1024, maxElements = 1500;
const cells = (page) => page.getByRole('gridcell').first().waitFor();

function light(what, got) {
  ok(got.requests <= maxRequests, `${what}: ${got.requests} requests, more than ${maxRequests}: ${got.asked.join(' ')}`);
  ok(got.code <= maxCode, `${what}: ${got.code} bytes of page, scripts and styles, more than ${maxCode}`);
  ok(got.nodes <= maxElements, `${what}: ${got.nodes} elements, more than ${maxElements}`);
}

test('weight: runs and a run', { smoke: true }, async () => {
  const server = await view('support', 'before', 'repeats', 'passed');
  light('runs', await cold(server, '/runs'));
  light('run', await cold(server, `/runs/${made('support', 'support+before+repeats+passed').id}`, cells));
});

for (const [name, smoke] of [['k1', true], ['k100', false]]) {
  test(`weight: a run, ${name}, on a usual and on a large screen`, { smoke }, async () => {
    const server = await view(name), path = `/runs/${made(name, name).id}?status=all`;
    light(name, await cold(server, path, cells));
    light(`${name}, large screen`, await cold(server, path, cells, { width: 2560, height: 1440 }));
    await server.stop();
  });
}

for (const [name, size, smoke] of [['k300', 2 << 20, true], ['k20', 10 << 20, false]]) {
  test(`weight: report ${name}`, { smoke }, async () => {
    const r = await report(name);
    ok(r.size <= size, `the report has ${r.size} bytes, more than ${size}`);
    ok(r.size < statSync(made(name).path).size, 'the report is larger than the run');
    const got = await cold(null, r.url, cells);
    ok(got.requests === 0, `the report makes ${got.requests} requests`);
    ok(got.nodes <= maxElements, `the report has ${got.nodes} elements, more than ${maxElements}`);
  });
}

test('weight: a row with 2,000 assertions', { smoke: true }, () => withPage({}, async (page) => {
  const all = ['cut', 'newer', 'large', 'wide', 'support'];
  await enter(page, await view(...all), `/runs/${made('wide', all.join('+')).id}`);
  await page.getByRole('gridcell').first().click();
  await drawer(page).getByText('check_0').first().waitFor();
  const nodes = await page.evaluate(() => document.querySelectorAll('*').length);
  ok(nodes <= maxElements, `the page has ${nodes} elements, more than ${maxElements}`);
}));
