import { setTimeout } from 'node:timers/promises';
import type { Fault } from '../faults-log.ts';
import { between, type Random } from '../random.ts';
import type { Place } from '../world/wires.ts';
import type { World, WorldProcess } from '../world/world.ts';

/** A world under load, to which a round adds faults. */
export interface Arena {
  world: World;
  random: Random;
  /** The faults so far, for the checker. */
  faults: Fault[];
  /** Violations that were found during the faults. */
  broken: string[];
  /** Longest duration of an outage or pause. */
  longestMs: number;
  say(line: string): void;
}

/** Causes a fault and records it. `breakIt` resolves when the affected process or server works again. */
export async function makeFault<T>(
  arena: Pick<Arena, 'faults'>,
  fault: Omit<Fault, 'from' | 'until'> & { from?: number },
  breakIt: () => Promise<T>,
): Promise<T> {
  // The fault is recorded at its start, without an end, because the machine watch reads the faults while they last.
  const entry: Fault = { from: Date.now(), ...fault, until: Number.POSITIVE_INFINITY };
  arena.faults.push(entry);
  const result = await breakIt();
  entry.until = Date.now();
  return result;
}

/** Takes MongoDB or Redis away for `ms`. */
export async function takeAway(
  arena: Arena,
  hit: 'mongo' | 'redis',
  how: 'stopped' | 'killed' | 'hung',
  ms: number,
): Promise<void> {
  const server = arena.world[hit];
  await makeFault(arena, { what: `${hit === 'mongo' ? 'MongoDB' : 'Redis'} ${how}`, hit }, async () => {
    if (how === 'hung') server.pause();
    else await (how === 'stopped' ? server.stop() : server.kill());
    await setTimeout(ms);
    if (how === 'hung') server.resume();
    else await server.start();
  });
}

/** A random duration in ms, not longer than the run allows. */
export const randomMs = ({ random, longestMs }: Arena, leastMs: number, mostMs: number): number =>
  Math.min(between(random, leastMs, mostMs), longestMs);

/** A place in a process's work where it can be killed, or a moment of an attempt that the receiver sees. */
export type KillPlace = Place | 'during a send' | 'after a send';

/**
 * Kills the first of the processes that reaches the place, in the same tick. Resolves with the process and the time, or
 * with undefined if none reached it within `patienceMs`.
 */
export async function killFirstAt(
  { world }: Pick<Arena, 'world'>,
  candidates: readonly WorldProcess[],
  place: KillPlace,
  patienceMs = 4_000,
): Promise<{ victim: WorldProcess; killedAt: number } | undefined> {
  let disarm = () => {};
  const tripped = new Promise<{ victim: WorldProcess; killedAt: number }>((resolve) => {
    const kill = (victim: WorldProcess) => {
      disarm();
      void victim.kill();
      resolve({ victim, killedAt: Date.now() });
    };
    if (place === 'during a send' || place === 'after a send') {
      const seen = ({ rideId }: { rideId: string }) => {
        const sender = senderOf(candidates, rideId);
        if (sender?.isRunning) kill(sender);
      };
      disarm = world.receivers.watch(place === 'during a send' ? { received: seen } : { answered: seen });
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

/** The sender of the attempt that a receiver sees: the worker that last claimed an event of this ride. */
function senderOf(candidates: readonly WorldProcess[], rideId: string): WorldProcess | undefined {
  const claimedAt = (worker: WorldProcess) => worker.wires?.claimed.get(rideId) ?? 0;
  return candidates.filter(claimedAt).sort((a, b) => claimedAt(b) - claimedAt(a))[0];
}
