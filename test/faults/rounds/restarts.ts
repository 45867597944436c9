import { setTimeout } from 'node:timers/promises';
import type { PoolName } from '../../../shared/base/queues.ts';
import type { Inhabitant } from '../world/world.ts';
import type { Arena } from './arena.ts';

/** Docker and systemd kill a process that takes much longer. */
const endsWithinMs = 10_000;

/**
 * Every process in turn, as an operator restarts them. None of it is written down as a fault, so it excuses nothing. Answers
 * how long each process took to end, in ms.
 */
export async function restartInTurn(arena: Arena): Promise<number[]> {
  const { apis, workers } = arena.world;
  const endsMs: number[] = [];
  for (const api of [...apis]) endsMs.push(await replace(arena, api));
  for (const worker of [...workers]) {
    endsMs.push(await end(arena, worker));
    await worker.start();
  }
  return endsMs;
}

/**
 * A new API process takes an old one's place. Callers choose among `apis`, which is what the balancer in front knows: the
 * new process is in it as soon as it is ready, and the old one is out of it when it is told to end. What it has accepted
 * until then it must answer.
 */
async function replace(arena: Arena, old: Inhabitant): Promise<number> {
  const { apis, another } = arena.world;
  const fresh = await another('api');
  await fresh.start();
  while (!(await isReady(fresh.url))) await setTimeout(50);
  apis.splice(apis.indexOf(old), 1, fresh);
  return remove(arena, old);
}

/**
 * A pool has one process, then four, then one again, for so many ms each, and at last as many as before. Answers how long each
 * process took to end, in ms.
 */
export async function scale(arena: Arena, pool: PoolName, eachMs: number): Promise<number[]> {
  arena.say(`${pool} scaled from 1 to 4 to 1`);
  const { workers, another } = arena.world;
  const [, ...others] = workers.filter(({ kind }) => kind === pool);
  const endsMs = await Promise.all(others.map((worker) => end(arena, worker)));
  await setTimeout(eachMs);
  const more = await Promise.all([2, 3, 4].map(() => another(pool)));
  workers.push(...more);
  await Promise.all(more.map((worker) => worker.start()));
  await setTimeout(eachMs);
  endsMs.push(...(await Promise.all(more.map((worker) => remove(arena, worker)))));
  for (const worker of more) workers.splice(workers.indexOf(worker), 1);
  await setTimeout(eachMs);
  await Promise.all(others.map((worker) => worker.start()));
  return endsMs;
}

/** Tells a process to end, and says what is wrong with how it does. */
async function end({ broken }: Arena, { name, stop, crashes }: Inhabitant): Promise<number> {
  const { how, ms } = await stop();
  if (how !== 'code 0') broken.push(`${name} ended with ${how} after SIGTERM`);
  if (ms > endsWithinMs) broken.push(`${name} took ${ms} ms to end`);
  broken.push(...crashes.map((crash) => `${name} ended by itself: ${crash}`));
  return ms;
}

/** Ends a process for good. */
async function remove(arena: Arena, process: Inhabitant): Promise<number> {
  const ms = await end(arena, process);
  process.wires?.close();
  return ms;
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
