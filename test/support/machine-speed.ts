import { createHash } from 'node:crypto';

/** The CPU time that `work` needs on a quick machine. */
const quickMs = 200;
/** A run beside other processes can lose more of the CPU later than it does while it is measured. */
const reserve = 2;

/**
 * A time limit that only ends a hang, for the speed of this machine. Limits that the service promises are not scaled.
 * Outside of mocha, where nothing was measured, the limit stays as it is.
 */
export const scaled = (ms: number): number => Math.ceil(ms * Number(process.env.TEST_SLOWNESS ?? 1));

/** Measures this machine once per run, beside everything else that it does, for `scaled` in this and all child processes. */
export function measureSpeed(): void {
  if (process.env.TEST_SLOWNESS) return;
  const startedAt = performance.now();
  work();
  const slowness = Math.max(1, (performance.now() - startedAt) / quickMs) * reserve;
  process.env.TEST_SLOWNESS = slowness.toFixed(1);
}

/** Computes with JavaScript and native code, as the tests do. */
function work(): void {
  const block = Buffer.alloc(64 * 1_024);
  for (let round = 0; round < 4_000; round++) {
    for (let at = 0; at < block.length; at += 16) block[at] = (block[at] ?? 0) + at + round;
    createHash('sha256').update(block).digest();
  }
}

/** Scales the time limits of all tests and hooks below `suite` that have one. */
export function scaleLimits(suite: Mocha.Suite): void {
  const { _beforeAll, _afterAll, _beforeEach, _afterEach } = suite as unknown as Record<string, Mocha.Hook[]>;
  const hooks = [_beforeAll, _afterAll, _beforeEach, _afterEach].flatMap((some) => some ?? []);
  for (const runnable of [...hooks, ...suite.tests]) runnable.timeout(scaled(runnable.timeout()));
  for (const inner of suite.suites) scaleLimits(inner);
}
