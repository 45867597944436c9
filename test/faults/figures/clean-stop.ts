import { setTimeout } from 'node:timers/promises';
import type { Figure } from '../figure.ts';
import { makeFault, takeAway } from '../rounds/arena.ts';
import { end } from '../rounds/restarts.ts';
import { runUnderFaults, summaryOf } from '../rounds/run-rounds.ts';

/** The server stays away for this long. The processes must end sooner. */
const awayMs = 13_000;
const outages = [
  ['redis', 'killed'],
  ['redis', 'hung'],
  ['mongo', 'killed'],
  ['mongo', 'hung'],
] as const;

/** Stops all processes while Redis or MongoDB is away, and starts them again when it has returned. */
export const cleanStop: Figure = {
  name: 'clean-stop',
  goal: 'every process exits with code 0 within 10 s of SIGTERM',
  needsEngine: true,
  async measure(run) {
    const slowest: string[] = [];
    const { evidence, violations } = await runUnderFaults({
      run,
      world: { wired: false },
      async faults(arena) {
        for (const [hit, how] of run.short ? outages.slice(0, 1) : outages) {
          const returned = takeAway(arena, hit, how, awayMs);
          await setTimeout(1_500);
          const endsMs = await Promise.all(
            [...arena.world.apis, ...arena.world.workers].map((process) => {
              const { kind, name } = process;
              const fault = { what: 'everything stopped', hit: kind === 'api' ? 'api' : 'worker', name } as const;
              return makeFault(arena, fault, async () => {
                const ms = await end(arena, process);
                await returned;
                await process.start();
                return ms;
              });
            }),
          );
          slowest.push(`${hit} ${how} ${(Math.max(...endsMs) / 1_000).toFixed(1)} s`);
          run.say(`everything stopped: ${slowest.at(-1)}`);
          await setTimeout(2_000);
        }
      },
    });
    return { reached: `the slowest to end, by outage: ${slowest.join(', ')}; ${summaryOf(evidence)}`, violations };
  },
};
