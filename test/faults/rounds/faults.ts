import fs from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { poolNames } from '../../../shared/base/queues.ts';
import { oneOf } from '../random.ts';
import { type Arena, makeFault, randomMs, takeAway } from './arena.ts';
import { allKills, killAll, killCycle } from './kills.ts';
import { restartInTurn, scale } from './restarts.ts';

/** The fault of one round. Resolves when everything works again. */
type RoundFault = (arena: Arena) => Promise<unknown>;

const hourMs = 3_600_000;

async function killAtPlaces(arena: Arena): Promise<void> {
  for (let cycle = 0; cycle < 4; cycle++) await killCycle(arena, oneOf(arena.random, allKills));
}

const killMongo: RoundFault = (arena) => takeAway(arena, 'mongo', 'killed', 0);

/** All kinds of faults, by the name that a run prints. */
export const roundFaults: Record<string, RoundFault> = {
  'a process killed at a place of its work': killAtPlaces,
  'everything killed at once': killAll,
  'a worker stopped and continued': (arena) => pauseWorker(arena, randomMs(arena, 13_000, 20_000)),
  'Redis stopped': (arena) => takeAway(arena, 'redis', 'stopped', randomMs(arena, 1_000, 60_000)),
  'Redis killed': (arena) => takeAway(arena, 'redis', 'killed', randomMs(arena, 1_000, 10_000)),
  'Redis hung': (arena) => takeAway(arena, 'redis', 'hung', randomMs(arena, 1_000, 10_000)),
  'Redis emptied': (arena) => emptyRedis(arena),
  'Redis emptied repeatedly': async (arena) => {
    for (let time = 0; time < 5; time++) {
      await emptyRedis(arena);
      await setTimeout(randomMs(arena, 100, 3_000));
    }
  },
  'Redis restarted with a truncated AOF': (arena) =>
    makeFault(arena, { what: 'Redis killed', hit: 'redis' }, async () => {
      await arena.world.redis.kill();
      await truncateAof(arena);
      await setTimeout(randomMs(arena, 500, 3_000));
      await arena.world.redis.start();
    }),
  'MongoDB killed': killMongo,
  'MongoDB killed under load, twice': async (arena) => {
    await killMongo(arena);
    await setTimeout(1_000);
    await takeAway(arena, 'mongo', 'killed', randomMs(arena, 500, 3_000));
  },
  'MongoDB away': (arena) => takeAway(arena, 'mongo', 'stopped', randomMs(arena, 5_000, 30_000)),
  'MongoDB hung': (arena) => takeAway(arena, 'mongo', 'hung', randomMs(arena, 1_000, 10_000)),
  "a worker's clock an hour ahead": (arena) => wrongClock(arena, hourMs),
  "a worker's clock an hour behind": (arena) => wrongClock(arena, -hourMs),
  'the mail server away': ({ world }) => world.mail.away(() => setTimeout(8_000)),
  'everything restarted in turn': restartInTurn,
  'a pool scaled from 1 to 4 to 1': (arena) =>
    scale(arena, oneOf(arena.random, poolNames), randomMs(arena, 1_000, 3_000)),
};

/** All kinds of faults for a world whose MongoDB is a replica set. */
export const replicaSetFaults: Record<string, RoundFault> = {
  'MongoDB steps down': (arena) => stepDown(arena, 0),
  'MongoDB steps down and rolls back minority writes': (arena) => stepDown(arena, randomMs(arena, 500, 3_000)),
  "MongoDB's majority lags": (arena) =>
    makeFault(arena, { what: 'the majority lags', hit: 'mongo' }, async () => {
      arena.world.replicaSet?.hold();
      await setTimeout(randomMs(arena, 500, 5_000));
      await arena.world.replicaSet?.release();
    }),
  'a process killed at a place of its work': killAtPlaces,
  'MongoDB killed': killMongo,
};

/** Before the step-down, no write reaches the majority for `laggingMs`; these writes are rolled back. */
async function stepDown(arena: Arena, laggingMs: number): Promise<void> {
  await makeFault(arena, { what: 'MongoDB steps down', hit: 'mongo' }, async () => {
    if (laggingMs > 0) arena.world.replicaSet?.hold();
    await setTimeout(laggingMs);
    await arena.world.replicaSet?.stepDown(randomMs(arena, 500, 5_000));
  });
}

async function pauseWorker(arena: Arena, ms: number): Promise<void> {
  const victim = oneOf(arena.random, arena.world.workers);
  await makeFault(arena, { what: 'a worker stopped', hit: 'worker', name: victim.name }, async () => {
    victim.signal('SIGSTOP');
    await setTimeout(ms);
    victim.signal('SIGCONT');
  });
}

export async function emptyRedis(arena: Arena): Promise<void> {
  const redis = new Redis(arena.world.redis.url);
  await makeFault(arena, { what: 'Redis emptied', hit: 'redis' }, () => redis.flushall());
  redis.disconnect();
}

/** Truncates Redis's append-only file at a random byte, usually in the middle of a command. */
async function truncateAof({ world, random }: Arena): Promise<void> {
  const folder = `${world.redisDir}/appendonlydir`;
  for (const name of await fs.readdir(folder)) {
    if (!name.includes('.incr.')) continue;
    const { size } = await fs.stat(`${folder}/${name}`);
    await fs.truncate(`${folder}/${name}`, Math.floor(size * (0.5 + random() / 2)));
  }
}

/** Runs one more worker process with a wrong clock for some seconds. */
async function wrongClock(arena: Arena, shiftMs: number): Promise<void> {
  const wrong = await arena.world.shiftedWorkers(`clock-${shiftMs > 0 ? 'ahead' : 'behind'}`, shiftMs);
  await wrong.start();
  await setTimeout(randomMs(arena, 5_000, 10_000));
  await wrong.stop();
  wrong.wires?.close();
}
