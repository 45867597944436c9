import { setTimeout } from 'node:timers/promises';
import { rides } from '../../../shared/rides/ride.ts';
import { attempts } from '../../../shared/webhooks/attempts.ts';
import type { SteppableMongo } from '../../support/steppable-mongo.ts';
import type { Figure } from '../figure.ts';
import { oneOf, shuffled } from '../random.ts';
import { type Arena, makeFault, randomMs } from '../rounds/arena.ts';
import { emptyRedis } from '../rounds/faults.ts';
import { allKills, killCycle } from '../rounds/kills.ts';
import { runUnderFaults, summaryOf } from '../rounds/run-rounds.ts';

const hourMs = 3_600_000;

/** Sequences of offsets of MongoDB's clock in ms. 0 is the correct time. */
const courses: readonly (readonly number[])[] = [
  [8_000, 0],
  [-8_000, 0],
  [hourMs, 0],
  [-hourMs, 0],
  [2_500, -2_500, 0],
  [30_000, 22_000, 38_000, 0],
];

/**
 * Steps MongoDB's clock, or fails over to a primary with a different clock, while partners, people and readers are
 * active.
 */
export const mongoClock: Figure = {
  name: 'mongo-clock',
  goal: 'no violation, with steps of up to an hour in both directions: feeds show each event once, nothing is lost',
  needsEngine: true,
  async measure(run) {
    const times = run.short ? 1 : 3;
    const { evidence, violations } = await runUnderFaults({
      run,
      world: { hasSteppableMongo: true },
      perSecond: 6,
      withPeople: true,
      // This run has no drivers, because the checker compares their history with this machine's clock.
      drivers: 0,
      async faults(arena) {
        for (let time = 0; time < times; time++) {
          for (const course of shuffled(arena.random, courses)) await runCourse(arena, course);
          await slowerPrimary(arena);
        }
        await letAnHourPass(arena);
      },
    });
    const steps = evidence.faults.filter(({ hit }) => hit === 'clock').length;
    return { reached: `${steps} courses of steps; ${summaryOf(evidence)}`, violations };
  },
};

const clockOf = ({ world }: Arena): SteppableMongo => world.mongo as SteppableMongo;

async function runCourse(arena: Arena, course: readonly number[]): Promise<void> {
  const what = course.map((aheadMs) => `${aheadMs / 1_000} s`).join(', ');
  arena.say(`MongoDB's clock off by ${what}`);
  await makeFault(arena, { what: `MongoDB's clock off by ${what}`, hit: 'clock' }, async () => {
    for (const aheadMs of course) {
      await step(arena, aheadMs);
      await setTimeout(randomMs(arena, 3_000, 8_000));
    }
  });
  // Kills a process while the processes still estimate the clock differently.
  await killCycle(arena, oneOf(arena.random, allKills));
}

/** A failover to a server whose clock is 20 s behind: MongoDB is down for a moment and returns with an earlier time. */
async function slowerPrimary(arena: Arena): Promise<void> {
  const { mongo } = arena.world;
  arena.say('MongoDB killed and restarted with a clock 20 s behind');
  await makeFault(arena, { what: "MongoDB's clock 20 s behind after a kill", hit: 'clock' }, async () => {
    await makeFault(arena, { what: 'MongoDB away', hit: 'mongo' }, async () => {
      await mongo.kill();
      await clockOf(arena).setClock(-20_000);
      await mongo.start();
    });
    await setTimeout(randomMs(arena, 5_000, 10_000));
    await step(arena, 0);
  });
}

const step = (arena: Arena, aheadMs: number): Promise<void> =>
  makeFault(arena, { what: `MongoDB's clock set to ${aheadMs / 1_000} s`, hit: 'step' }, () =>
    clockOf(arena).setClock(aheadMs),
  );

/**
 * Work that was stored while the clock was an hour ahead is due in an hour. Instead of waiting, makes it due an hour
 * earlier and empties Redis, so that the sweeper adds its jobs again with the new times.
 */
async function letAnHourPass(arena: Arena): Promise<void> {
  const earlier = (time: string) => ({ $subtract: [time, hourMs] });
  const timers = { $map: { input: '$timers', in: { $mergeObjects: ['$$this', { dueAt: earlier('$$this.dueAt') }] } } };
  const change = { timers, nextDueAt: earlier('$nextDueAt'), biddingEndsAt: earlier('$biddingEndsAt') };
  await rides.updateMany({ nextDueAt: { $gt: new Date(Date.now() + hourMs / 6) } }, [
    { $set: { ...change, rev: { $add: ['$rev', 1] } } },
  ]);
  await attempts.updateMany({ dueAt: { $gt: new Date(Date.now() + hourMs / 6) } }, [
    { $set: { dueAt: earlier('$dueAt') } },
  ]);
  await emptyRedis(arena);
}
