import { setTimeout } from 'node:timers/promises';
import type { Fault } from '../faults-log.ts';
import { between, type Random } from '../random.ts';
import type { Place } from '../world/wires.ts';
import type { Inhabitant, World } from '../world/world.ts';

/** Where faults are made: a world under load. */
export interface Arena {
  world: World;
  random: Random;
  /** What was done, for the checker. */
  faults: Fault[];
  /** What is seen to be broken meanwhile: each is a violation. */
  broken: string[];
  /** No outage or pause is longer than this. */
  longestMs: number;
  say(line: string): void;
}

/** Makes a fault by `breakIt`, which returns when the victim is back, and writes it down. */
export async function making<T>(
  arena: Pick<Arena, 'faults'>,
  fault: Omit<Fault, 'from' | 'until'> & { from?: number },
  breakIt: () => Promise<T>,
): Promise<T> {
  // It stands in the log from its beginning: who looks at it meanwhile finds it without an end.
  const entry: Fault = { from: Date.now(), ...fault, until: Number.POSITIVE_INFINITY };
  arena.faults.push(entry);
  const result = await breakIt();
  entry.until = Date.now();
  return result;
}

/** So many ms, but no more than the run allows. */
export const awhile = ({ random, longestMs }: Arena, leastMs: number, mostMs: number): number =>
  Math.min(between(random, leastMs, mostMs), longestMs);

/** A place of a process's own work, or a moment of an attempt that its receiver sees. */
export type KillPlace = Place | 'during a send' | 'after a send';

/**
 * Kills, in that very tick, the first of the processes that comes to the place, and answers which one and when; undefined
 * where none came there within patienceMs.
 */
export async function killFirstAt(
  { world }: Pick<Arena, 'world'>,
  candidates: readonly Inhabitant[],
  place: KillPlace,
  patienceMs = 4_000,
): Promise<{ victim: Inhabitant; killedAt: number } | undefined> {
  let disarm = () => {};
  const tripped = new Promise<{ victim: Inhabitant; killedAt: number }>((resolve) => {
    const kill = (victim: Inhabitant) => {
      disarm();
      void victim.kill();
      resolve({ victim, killedAt: Date.now() });
    };
    if (place === 'during a send' || place === 'after a send') {
      const seen = ({ rideId }: { rideId: string }) => {
        const sender = senderOf(candidates, rideId);
        if (sender?.isRunning) kill(sender);
      };
      disarm = world.receivers.watch(place === 'during a send' ? { taken: seen } : { answered: seen });
    } else {
      const disarms = candidates.map((victim) => victim.wires?.arm(place, () => kill(victim)));
      disarm = () => {
        for (const one of disarms) one?.();
      };
    }
  });
  const killed = await Promise.race([tripped, setTimeout(patienceMs, undefined)]);
  disarm();
  await killed?.victim.kill();
  return killed;
}

/** Who makes the attempt that a receiver sees: the one that has claimed an event of this ride last. */
function senderOf(candidates: readonly Inhabitant[], rideId: string): Inhabitant | undefined {
  const claimedAt = (worker: Inhabitant) => worker.wires?.claimed.get(rideId) ?? 0;
  return candidates.filter(claimedAt).sort((a, b) => claimedAt(b) - claimedAt(a))[0];
}
