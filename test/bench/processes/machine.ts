import { setImmediate } from 'node:timers/promises';
import type { Measurement } from '../bench.ts';
import { median, percentile } from '../statistics.ts';

/** 64 MB: larger than the processor's caches. */
const numbers = 16 * 1024 * 1024;
const readsAtATime = 2_000;
/** Reads that take more than this multiple of the median count as held up. */
const slowFactor = 2;

/**
 * Measures the machine itself with a program that only reads memory. The host of a virtual machine may delay memory
 * access for some time, which no CPU time shows.
 */
export const machine: Measurement = async ({ quick, rounds, say }) => {
  const memory = new Uint32Array(numbers).fill(1);
  const medians: number[] = [];
  const slowest: number[] = [];
  const shares: number[] = [];
  for (let round = 1; round <= rounds; round++) {
    say(`the machine itself: round ${round}`);
    const times = await timesOfReads(memory, quick ? 4_000 : 8_000);
    const usual = median(times);
    const late = times.filter((ms) => ms > slowFactor * usual);
    medians.push(usual * 1_000);
    slowest.push(percentile(times, 0.999));
    shares.push((100 * sum(late)) / sum(times));
  }
  const name = 'the machine alone: 2,000 reads of memory at random';
  return [
    { name: `${name}, median`, unit: 'us', service: medians },
    { name: `${name}, p99.9`, unit: 'ms', service: slowest },
    { name: `${name}, time held up`, unit: '%', service: shares },
  ];
};

async function timesOfReads(memory: Uint32Array, lastMs: number): Promise<number[]> {
  const times: number[] = [];
  const endsAt = performance.now() + lastMs;
  let index = 1;
  while (performance.now() < endsAt) {
    const startedAt = performance.now();
    for (let read = 0; read < readsAtATime; read++) {
      // The constants of Knuth's linear congruential generator of 32 bits.
      index = (Math.imul(index, 1_664_525) + 1_013_904_223 + (memory[index % numbers] ?? 0)) >>> 0;
    }
    times.push(performance.now() - startedAt);
    if (times.length % 1_000 === 0) await setImmediate();
  }
  return times;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
