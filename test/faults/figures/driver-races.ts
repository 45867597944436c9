import { setTimeout } from 'node:timers/promises';
import { percentile } from '../../bench/statistics.ts';
import { standstillSummary, standstillViolations } from '../check/standstills.ts';
import { outside } from '../faults-log.ts';
import type { Figure } from '../figure.ts';
import { startPace } from '../load/pace.ts';
import { seededRandom } from '../random.ts';
import { startMachineWatch } from '../world/machine-watch.ts';
import { driverRaceTrack } from './driver-race-track.ts';
import { inWorld, numbers, runConcurrently, sum } from './in-world.ts';

const settings = { BIDDING_TIMEOUT_MS: '120000', LOG_LEVEL: 'warn' };
const concurrency = 12;
/** A free driver has an open ride nearby after this time at the latest. */
const openedToFreeMs = 2_000;

export const driverRaces: Figure = {
  name: 'driver-races',
  goal: '0 drivers on two rides, and 0 open rides forgotten for more than 2 s, in 10,000 races of accept, accept elsewhere, withdraw, cancel, go offline, suspend and a new ride',
  async measure(run) {
    const count = run.short ? 300 : 10_000;
    const options = { build: run.build, settings, pools: ['bidding', 'dispatch'] as const, copies: 1 };
    const { measured, crashes } = await inWorld(options, async (world) => {
      const track = driverRaceTrack(world, seededRandom(run.seed));
      const { mongo, redis } = world;
      const watch = startMachineWatch({ mongoUrl: mongo.url, redisUrl: redis.url, faults: [], say: run.say });
      const pace = startPace();
      let raced = 0;
      let slowdown: number;
      try {
        await runConcurrently(numbers(count), concurrency, async () => {
          const startedAt = performance.now();
          await track.race();
          await setTimeout((performance.now() - startedAt) * (pace.slowdown - 1));
          raced += 1;
          if (raced % 1_000 === 0) run.say(`${raced} of ${count} races`);
        });
      } finally {
        slowdown = pace.stop();
        await watch.stop();
        track.close();
      }
      return { ...track, standstills: watch.standstills, slowdown };
    });
    const { violations, outcomes, waits, standstills, slowdown } = measured;
    for (const { rideId, from, until } of waits) {
      const ms = sum(outside({ from, until }, standstills).map((part) => part.until - part.from));
      if (ms > openedToFreeMs) violations.push(`${rideId}: forgotten for ${ms} ms while the driver was free`);
    }
    violations.push(...standstillViolations(standstills, []));
    const freedMs = waits.map(({ from, until }) => until - from);
    // Every one of these outcomes must occur; otherwise the moves did not really race.
    for (const outcome of ['one ride', 'one after the other', 'no ride']) {
      if (!outcomes.has(outcome)) violations.push(`never: ${outcome}`);
    }
    const counts = [...outcomes].map(([outcome, times]) => `${outcome} ${times.toLocaleString('en')}`).join(', ');
    const reached =
      `${violations.length} drivers on two rides, with an offer left or without the open ride after 2 s, in ${count.toLocaleString('en')} races of 2 to 8 ` +
      `at once over 2 API processes; the driver had ${counts}; ` +
      `freed, the driver had the open ride after ${percentile(freedMs, 0.5)} ms (p50), ${percentile(freedMs, 0.99)} ms (p99), ${Math.max(...freedMs)} ms at most; ` +
      `each lane paused for ${(slowdown - 1).toFixed(1)} times the time of its races${standstillSummary(standstills, [])}`;
    return { reached, violations: [...violations, ...crashes] };
  },
};
