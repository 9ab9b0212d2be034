// The list of tests. A test is smoke if it belongs to every change, and bench if it
// measures time: such a test runs alone, prints figures, and fails for no time.
export const tests = [];

// patience is how long a page may take. It is long, because machines are slow; no test
// waits for a time to pass, so that a fast machine is not slowed down.
export const patience = 60_000;

export function test(name, options, run) {
  tests.push({ name, smoke: false, bench: false, timeout: 5 * patience, ...options, run });
}

export function equal(got, want, what) {
  const a = JSON.stringify(got), b = JSON.stringify(want);
  if (a !== b) throw new Error(`${what}: got ${a}, expected ${b}`);
}

export function ok(value, what) {
  if (!value) throw new Error(what);
}

// until waits for a condition and says what it waited for.
export async function until(condition, what, limit = patience) {
  for (const end = Date.now() + limit; ;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited ${limit / 1000} s for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
