import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { nextStep } from '../../../shared/rides/simulation.ts';
import { percentile } from '../statistics.ts';

/** One step of a trip: when it was due, when it was done, and when the receiver had answered its event (Unix ms). */
interface Step {
  dueMs: number;
  atMs: number;
  settledMs: number;
  isLast: boolean;
}

export interface Trips {
  completed: number;
  delivered: number;
  /** The figures of the steps that were done, and the deliveries that were recorded, in [fromMs, toMs) (Unix ms). */
  between(
    fromMs: number,
    toMs: number,
  ): {
    stepsPerSecond: number;
    completedPerSecond: number;
    settledPerSecond: number;
    lagMs(p: number): number;
    answeredMs(p: number): number;
  };
}

const steps = ['offer', 'accept', 'arrive', 'start', 'complete'] as const;

/** Reads all trips from the stored rides. Expects the default scenario at real speed. */
export async function readTrips(): Promise<Trips> {
  const projection = { createdAt: 1, status: 1, 'events.at': 1, 'events.delivery': 1 };
  const found = await rides.find<Pick<Ride, 'createdAt' | 'status' | 'events'>>({}, { projection }).toArray();
  const all = found.flatMap(stepsOf);
  const events = found.flatMap((ride) => ride.events);
  return {
    completed: found.filter(({ status }) => status === 'completed').length,
    delivered: events.filter(({ delivery }) => delivery?.outcome === 'delivered').length,
    between(fromMs, toMs) {
      const seconds = (toMs - fromMs) / 1_000;
      const isWithin = (ms: number) => ms >= fromMs && ms < toMs;
      const done = all.filter(({ atMs }) => isWithin(atMs));
      return {
        stepsPerSecond: done.length / seconds,
        completedPerSecond: done.filter(({ isLast }) => isLast).length / seconds,
        settledPerSecond: all.filter(({ settledMs }) => isWithin(settledMs)).length / seconds,
        lagMs: (p) =>
          percentile(
            done.map(({ atMs, dueMs }) => atMs - dueMs),
            p,
          ),
        answeredMs: (p) =>
          percentile(
            done.map(({ atMs, settledMs }) => settledMs - atMs),
            p,
          ),
      };
    },
  };
}

/** Each step is due a fixed time after the previous step, or after the creation. */
function stepsOf({ createdAt, events }: Pick<Ride, 'createdAt' | 'events'>): Step[] {
  return events.map(({ at, delivery }, index) => {
    const [previous = 'create', previousAt = createdAt] = [steps[index - 1], events[index - 1]?.at];
    return {
      dueMs: previousAt.getTime() + (nextStep('default', previous)?.afterMs ?? 0),
      atMs: at.getTime(),
      settledMs: (delivery?.at.getTime() ?? 0) + (delivery?.durationMs ?? 0),
      isLast: index === steps.length - 1,
    };
  });
}
