import { setTimeout } from 'node:timers/promises';
import { between, oneOf } from '../random.ts';
import type { WorldProcess } from '../world/world.ts';
import { type Arena, type KillPlace, killFirstAt, makeFault } from './arena.ts';

/** The places where each kind of process is killed. */
const killPlaces = {
  api: ['before the insert', 'between commit and enqueue', 'between enqueue and answer', 'between change and enqueue'],
  bidding: ['before a change', 'between change and enqueue', 'before a job is finished'],
  simulator: [
    'before a change',
    'between change and enqueue',
    'between enqueue and answer',
    'before a job is finished',
  ],
  dispatch: [
    'before a change',
    'between asking drivers and the change',
    'between noting a ride and withdrawing offers',
    'between change and enqueue',
    'before a job is finished',
  ],
  webhooks: [
    'before the claim',
    'between claim and send',
    'during a send',
    'after a send',
    'between outcome and settling',
    'between settling and the next job',
    'before a job is finished',
  ],
} as const satisfies Record<string, readonly KillPlace[]>;

export interface Kill {
  kind: keyof typeof killPlaces;
  place: KillPlace;
}

/** All combinations of a kind of process and a place where it is killed. */
export const allKills: readonly Kill[] = Object.entries(killPlaces).flatMap(([kind, places]) =>
  places.map((place) => ({ kind: kind as Kill['kind'], place })),
);

/**
 * One kill cycle: kills the first process of the kind that reaches the place, and restarts it after up to half a
 * second. Resolves with true if one reached the place; otherwise a random process of the kind is killed.
 */
export async function killCycle(arena: Arena, { kind, place }: Kill): Promise<boolean> {
  const { world, random } = arena;
  const isSender = kind === 'webhooks';
  const candidates = [...world.apis, ...world.workers].filter(
    (process) => process.kind === kind || (isSender && process.kind === 'webhooks-slow'),
  );
  const killed = await killFirstAt(arena, candidates, place);
  const victim = killed?.victim ?? oneOf(random, candidates);
  const from = killed?.killedAt ?? Date.now();
  const what = `${kind} killed ${killed ? '' : 'at random, not '}${place}`;
  await makeFault(arena, { what, hit: kind === 'api' ? 'api' : 'worker', name: victim.name, from }, async () => {
    await victim.kill();
    await restart(arena, victim);
  });
  arena.say(what);
  return killed !== undefined;
}

async function restart({ random }: Arena, victim: WorldProcess): Promise<void> {
  await setTimeout(between(random, 0, 500));
  await victim.start();
}

/** Kills all API and worker processes at the same moment, but no servers, and restarts them. */
export async function killAll(arena: Arena): Promise<void> {
  const { apis, workers } = arena.world;
  await Promise.all(
    [...apis, ...workers].map((process) => {
      const hit = process.kind === 'api' ? 'api' : 'worker';
      return makeFault(arena, { what: 'everything killed', hit, name: process.name }, async () => {
        await process.kill();
        await process.start();
      });
    }),
  );
}
