// The views of the app: their addresses, and the names of what tests use on them. A test
// finds elements by role and name, so this file is the one place that knows the words.
const q = encodeURIComponent;

// path takes the ids of what the view shows. empty is a query that leaves nothing to see.
// shows says that the view has texts of runs. data is what the view asks the server for. needsRun is a view that no empty server has.
export const screens = [
  { name: 'runs', smoke: true, shows: true, path: () => '/runs', empty: '?q=nothing-has-this-name', data: '**/v1/runs?**' },
  { name: 'run', smoke: true, shows: true, needsRun: true, path: (x) => `/runs/${x.run}`, empty: '?q=nothing-has-this-word', data: '**/v1/runs/*/matrix**' },
  { name: 'case', smoke: true, shows: true, needsRun: true, path: (x) => `/runs/${x.run}?case=${q(x.case)}&p=${x.column ?? 0}`, data: '**/detail**' },
  { name: 'compare', smoke: true, path: (x) => `/compare?base=${x.other}&head=${x.run}`, empty: '', data: '**/v1/compare**' },
  { name: 'assertions', smoke: true, shows: true, path: () => '/assertions', empty: '?q=nothing-has-this-name', data: '**/v1/assertions**' },
  { name: 'assertion', path: (x) => `/assertions/${q(x.assertion ?? 'tone')}`, data: '**/v1/assertions**' },
  { name: 'judges', smoke: true, path: () => '/judges', data: '**/v1/judges**' },
  { name: 'prompts', smoke: true, shows: true, path: () => '/prompts', data: '**/v1/prompts**' },
  { name: 'settings', smoke: true, path: () => '/settings', data: '**/v1/settings**' },
  { name: 'docs', smoke: true, path: () => '/docs', data: '' },
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
