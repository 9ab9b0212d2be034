// The list of tests. A test is smoke if it belongs to every run, and alone if it
// measures time.
export const tests = [];

export function test(name, options, run) {
  tests.push({ name, smoke: false, alone: false, timeout: 60_000, ...options, run });
}

export function equal(got, want, what) {
  const a = JSON.stringify(got), b = JSON.stringify(want);
  if (a !== b) throw new Error(`${what}: got ${a}, expected ${b}`);
}

export function ok(value, what) {
  if (!value) throw new Error(what);
}

// until waits for a condition and says what it waited for.
export async function until(condition, what, limit = 15_000) {
  for (const end = Date.now() + limit; ;) {
    const value = await condition();
    if (value) return value;
    if (Date.now() > end) throw new Error(`waited ${limit / 1000} s for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
