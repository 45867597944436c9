import { setTimeout } from 'node:timers/promises';
import type { PoolName } from '../../../shared/base/queues.ts';
import { until } from '../../support/until.ts';
import type { WorldProcess } from '../world/world.ts';
import type { Arena } from './arena.ts';

/** A process must end within this time after SIGTERM. Docker and systemd kill processes that need much longer. */
const endsWithinMs = 10_000;

/**
 * Restarts every process in turn, as an operator does. Restarts are not recorded as faults, so they excuse nothing.
 * Resolves with the time that each process needed to end, in ms.
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
 * Replaces an API process by a new one. Clients choose from `apis`, which plays the load balancer: the new process is
 * added once it is ready, and the old one is removed just before its SIGTERM. It must still answer all requests that it
 * has accepted.
 */
async function replace(arena: Arena, old: WorldProcess): Promise<number> {
  const { apis, newProcess } = arena.world;
  const fresh = await newProcess('api');
  await fresh.start();
  await until(() => isReady(fresh.url), 50);
  apis.splice(apis.indexOf(old), 1, fresh);
  return remove(arena, old);
}

/**
 * Scales a pool to one process, to four, to one again, for `eachMs` each, and then to its original number. Resolves
 * with the time that each process needed to end, in ms.
 */
export async function scale(arena: Arena, pool: PoolName, eachMs: number): Promise<number[]> {
  arena.say(`${pool} scaled from 1 to 4 to 1`);
  const { workers, newProcess } = arena.world;
  const [, ...others] = workers.filter(({ kind }) => kind === pool);
  const endsMs = await Promise.all(others.map((worker) => end(arena, worker)));
  await setTimeout(eachMs);
  const more = await Promise.all([2, 3, 4].map(() => newProcess(pool)));
  workers.push(...more);
  await Promise.all(more.map((worker) => worker.start()));
  await setTimeout(eachMs);
  endsMs.push(...(await Promise.all(more.map((worker) => remove(arena, worker)))));
  for (const worker of more) workers.splice(workers.indexOf(worker), 1);
  await setTimeout(eachMs);
  await Promise.all(others.map((worker) => worker.start()));
  return endsMs;
}

/** Stops a process with SIGTERM and reports violations: a wrong exit code, a late end or a crash. */
export async function end({ broken }: Arena, { name, stop, crashes }: WorldProcess): Promise<number> {
  const { how, ms } = await stop();
  if (how !== 'code 0') broken.push(`${name} ended with ${how} after SIGTERM`);
  if (ms > endsWithinMs) broken.push(`${name} took ${ms} ms to end`);
  broken.push(...crashes.map((crash) => `${name} ended unexpectedly: ${crash}`));
  return ms;
}

/** Stops a process permanently. */
async function remove(arena: Arena, process: WorldProcess): Promise<number> {
  const ms = await end(arena, process);
  process.wires?.close();
  return ms;
}

const isReady = (url: string): Promise<boolean> =>
  fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
