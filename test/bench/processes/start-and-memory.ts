import { setTimeout } from 'node:timers/promises';
import type { Measurement } from '../bench.ts';

const mega = 1_048_576;
/** V8 returns free heap to the system after some seconds without work, in several steps. */
const idleSeconds = 25;

/** The time from the start of an API process until it listens and reports `ready`. */
export const apiStart: Measurement = async ({ stack, rounds, say }) => {
  const seconds: number[] = [];
  for (let round = 0; round <= rounds; round++) {
    say(`start of an API process: ${round === 0 ? 'warm-up' : `round ${round}`}`);
    const startedAt = performance.now();
    await stack.startApi();
    if (round > 0) seconds.push((performance.now() - startedAt) / 1_000);
    await stack.stopPrograms();
  }
  return [{ name: 'start of an API process to ready', unit: 's', service: seconds, goal: '<= 1.5' }];
};

/** The memory of processes that have been idle for `idleSeconds`. */
export const idleMemory: Measurement = async ({ stack, say }) => {
  say('memory of idle processes');
  const processes = {
    'an API process': await stack.startApi(),
    'a worker process, webhooks pool': await stack.start('webhooks', 'workers/main', { args: ['webhooks'] }),
    'a worker process, all pools': await stack.start('worker', 'workers/main'),
  };
  await setTimeout(idleSeconds * 1_000);
  const measured = Object.entries(processes).map(async ([name, program]) => {
    const bytes = await program.ask<number>('memory');
    return { name: `memory of ${name}, idle`, unit: 'MB', service: [bytes / mega], goal: '<= 110' } as const;
  });
  return Promise.all(measured);
};
