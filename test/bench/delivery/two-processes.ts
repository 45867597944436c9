import type { Measurement } from '../bench.ts';
import { newKeys } from '../data/keys.ts';
import { serviceBatch } from './batches.ts';
import { startReceiver } from './receiver.ts';

/** So low that the slow receivers limit one process, and not this machine's two cores. */
const concurrency = 64;
const delayMs = 200;

/** The rate of the webhooks pool in one process (the floor) and in two, with slow receivers. */
export const twoProcesses: Measurement = async (bench) => {
  const { stack } = bench;
  const receiver = await startReceiver(stack, { delayMs });
  const keys = await newKeys(1_000, 'live', receiver.url);
  const env = { ...receiver.senderEnv, WEBHOOKS_CONCURRENCY: String(concurrency) };
  const ofOne = Math.round(concurrency * (1_000 / delayMs) * (bench.quick ? 2 : 5));
  const startWorker = (name: string) => stack.start(name, 'workers/main', { args: ['webhooks'], env });
  const ratesOf = async (processes: number) => {
    const rates: number[] = [];
    for (let round = 0; round <= (bench.quick ? 1 : 2); round++) {
      bench.say(`webhooks pool, ${processes} of 2 processes: ${round === 0 ? 'warm-up' : `round ${round}`}`);
      const batch = await serviceBatch(stack, receiver, keys, round === 0 ? ofOne / 4 : ofOne * processes);
      const perSecond = await batch.run();
      await batch.check();
      if (round > 0) rates.push(perSecond);
    }
    return rates;
  };
  await startWorker('webhooks-1');
  const floor = await ratesOf(1);
  await startWorker('webhooks-2');
  const service = await ratesOf(2);
  return [{ name: 'webhooks pool, 2 processes (floor: 1), rate', unit: 'a second', service, floor, goal: '>= 1.8' }];
};
