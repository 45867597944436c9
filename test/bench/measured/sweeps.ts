import { performance } from 'node:perf_hooks';
import { readConfig } from '../../../shared/base/config.ts';
import { openContext } from '../../../shared/process/open-context.ts';
import { sweep } from '../../../workers/periodic/sweeper/sweep.ts';
import { answer } from './ipc.ts';

/** A process that only runs sweeps, on request. */
const ctx = await openContext(readConfig(), 'sweeps');

export type Sweeps = { count: number; ms: number[]; visited: number };

answer('sweep', async ({ count }: { count: number }): Promise<Sweeps> => {
  const sweeps: Sweeps = { count, ms: [], visited: 0 };
  for (let done = 0; done < count; done++) {
    const startedAt = performance.now();
    const { visited } = await sweep(ctx, { everything: false });
    sweeps.ms.push(performance.now() - startedAt);
    sweeps.visited += visited;
  }
  return sweeps;
});
process.send?.('ready');
