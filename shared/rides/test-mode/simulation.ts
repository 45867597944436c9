import { createHash } from 'node:crypto';
import type { SimulatorStep } from '../../base/timer-names.ts';
import { pointAt } from '../position.ts';
import type { Location, RideState, TestScenario } from '../ride-types.ts';

/**
 * The script of test mode (contract, section 3, rule 5): which step of the simulated driver follows a step, and after
 * how many milliseconds. `create` stands for the ride's creation. Pure.
 */
type Script = Partial<Record<SimulatorStep | 'create', [next: SimulatorStep, afterMs: number]>>;

const wholeTrip: Script = {
  create: ['offer', 2_000],
  offer: ['accept', 3_000],
  accept: ['arrive', 3_000],
  arrive: ['start', 3_000],
  start: ['complete', 3_000],
};

const scripts: Record<TestScenario, Script> = {
  default: wholeTrip,
  counter_offer: wholeTrip,
  no_offers: {},
  three_offers: { ...wholeTrip, offer: ['offer_2', 500], offer_2: ['offer_3', 500], offer_3: ['accept', 2_000] },
  no_auto_accept: { ...wholeTrip, offer: undefined },
  offer_withdrawn: { ...wholeTrip, offer: ['withdraw', 2_000] },
  driver_cancels: { ...wholeTrip, arrive: ['driver_cancel', 3_000] },
  // After a step by hand it stalls again.
  stalls: { create: wholeTrip.create, offer: wholeTrip.offer },
};

/** How long a simulated drive takes at speed 1 (ms), both to the pickup and to the destination. */
export const simulatedLegMs = 3_000;

/** The step that follows `done`, and after how many ms at speed 1; undefined at the end of the script. */
export function nextStep(scenario: TestScenario, done: SimulatorStep | 'create') {
  const next = scripts[scenario][done];
  return next && { step: next[0], afterMs: next[1] };
}

/** Where the simulated driver starts: 1.2 km from the pickup, in a direction that follows from the ride's id. */
export function simulatedStart(ride: Pick<RideState, '_id' | 'pickup'>): Location {
  const direction = createHash('sha256').update(ride._id).digest().readUInt16BE() % 360;
  return pointAt(ride.pickup, 1.2, direction);
}
