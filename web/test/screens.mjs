// The views of the app: their addresses, and the names of what tests use on them. A test
// finds elements by role and name, so this file is the one place that knows the words.
const q = encodeURIComponent;

// path takes the ids of what the view shows. empty is a query that leaves nothing to see.
// shows says that the view has texts of runs. data is what the view asks the server for. needsRun is a view that no empty server has.
export const screens = [
  { name: 'runs', smoke: true, shows: true, path: () => '/runs', empty: '?q=nothing-has-this-name', data: '**/v1/runs?**' },
  { name: 'run', smoke: true, shows: true, needsRun: true, path: (x) => `/runs/${x.run}`, empty: '?q=nothing-has-this-word', data: '**/v1/runs/*/matrix**' },
  { name: 'case', smoke: true, shows: true, needsRun: true, path: (x) => `/runs/${x.run}?case=${q(x.case)}&p=${x.column ?? 0}`, data: '**/detail**' },
  { name: 'compare', smoke: true, shows: true, path: (x) => `/compare?base=${x.other}&head=${x.run}`, empty: '', data: '**/v1/compare**' },
  { name: 'assertions', smoke: true, shows: true, path: () => '/assertions', empty: '?q=nothing-has-this-name', data: '**/v1/assertions**' },
  { name: 'assertion', shows: true, path: (x) => `/assertions?suite=${q(x.suite ?? 'support-bot')}&a=${q(x.assertion ?? 'tone')}`, data: '**/v1/assertions**' },
  { name: 'label', path: () => '/label', data: '**/v1/label-queues**' },
  { name: 'judges', smoke: true, shows: true, path: () => '/judges', data: '**/v1/judges**' },
  { name: 'prompts', smoke: true, shows: true, path: () => '/prompts', data: '**/v1/prompts**' },
  { name: 'datasets', path: () => '/datasets', data: '**/v1/datasets?**' },
  { name: 'playground', path: () => '/playground', data: '**/v1/session**' },
  { name: 'spade', smoke: true, shows: true, path: (x) => `/spade?prompt=${q(x.prompt ?? 'v14')}`, data: '**/v1/spade' },
  { name: 'monitor', smoke: true, path: () => '/monitor', data: '**/v1/watches?**' },
  { name: 'alarms', path: () => '/alarms', data: '**/v1/alarms?**' },
  { name: 'traffic', path: () => '/traffic', data: '**/v1/events?**' },
  { name: 'settings', smoke: true, path: () => '/settings', data: '**/v1/settings**' },
  { name: 'docs', path: () => '/docs', data: '' },
];

// words are the names of the filters of a run.
export const words = { pass: /^Passed \d/, fail: /^Failed \d/, error: /^Errors \d/, skip: /^Skipped \d/ };

// drawer is the open case.
export const drawer = (page) => page.getByRole('complementary', { name: /^Case / });

// counts reads the numbers of results by status, from the filters. A status that no
// result has, has no filter.
export async function counts(page) {
  const found = {};
  await page.getByRole('button', { name: /^All \d/ }).first().waitFor();
  for (const [status, name] of Object.entries(words)) {
    const filter = page.getByRole('button', { name });
    found[status] = (await filter.count()) ? Number(/\d[\d,]*/.exec(await filter.first().innerText())[0].replaceAll(',', '')) : 0;
  }
  return found;
}

// colourless returns the statuses on a page whose sign or word is missing, so that only a
// colour tells them. The word may be the name of the control, or the head of the column.
export const colourless = (page) => page.evaluate(() => {
  const signs = { pass: '✓', fail: '✕', error: '!', skip: '–○' };
  const said = { pass: /pass|met\b|held|present/i, fail: /fail|not met/i, error: /error|did not finish|not measured|inconclusive|not in the output/i, skip: /skip|cancelled|did not apply|key absent|no key needed/i };
  const head = (e) => {
    const cell = e.closest('td');
    return cell ? cell.closest('table').tHead?.rows[0]?.cells[cell.cellIndex]?.textContent ?? '' : '';
  };
  return [...document.querySelectorAll('.status')].flatMap((e) => {
    const status = Object.keys(signs).find((s) => e.classList.contains(s));
    if (!status || !e.getClientRects().length) return [];
    const around = e.closest('button, a, [role=gridcell], [role=img], summary, p, h2, li') ?? e;
    const text = [e.textContent, e.getAttribute('aria-label'), around.getAttribute('aria-label'), around.textContent, head(e)].join(' ');
    const inColumn = said[status].test(head(e)); // of numbers, whose column says what they count
    return (inColumn || [...signs[status]].some((s) => around.textContent.includes(s))) && said[status].test(text) ? [] : [`${status}: ${e.outerHTML.slice(0, 150)}`];
  });
});
