import { haversineKm, type Point } from '../../shared/base/great-circle.ts';
import { arrivalHeading, legBetween, placeOnLeg } from '../../shared/rides/position.ts';
import { sleep } from '../stack/signals.ts';
import type { Behaviour } from './behaviour.ts';
import { type GatewayClient, type OwnRide, Refusal, type Step } from './gateway-client.ts';
import { between, type Random } from './random.ts';

interface Driving {
  client: Pick<GatewayClient, 'takeStep'>;
  car: Car;
  behaviour: Pick<Behaviour, 'cancels'>;
  random: Random;
  /** The factor by which the driver is faster than in real life. */
  speed: number;
  /** Reports the car's position to the service. Called before each step. */
  report(): void;
  onError(error: unknown): void;
}

const boardingMs = 20_000;
const retryMs = 1_000;
/** The pause of a driver who lacks the PIN. Longer, because each try is a line in the log of the stack. */
const pinMs = 5_000;

/**
 * Drives a ride from its current status to its end, or until `signal` aborts because the ride is over. Resolves with
 * the last accepted step, if any.
 */
export async function driveRide(ride: OwnRide, driving: Driving, signal: AbortSignal): Promise<Step | undefined> {
  const { car, behaviour, random, speed, report } = driving;
  const cancels = random() < behaviour.cancels;
  const steps: [from: OwnRide['status'], step: Step, durationMs: () => number][] = [
    ['driver_arriving', 'arrive', () => car.driveTo(ride.pickup)],
    ['arrived', cancels ? 'cancel' : 'start', () => between(random, 0.5, 1.5) * (boardingMs / speed)],
    ['in_progress', 'complete', () => car.driveTo(ride.destination)],
  ];
  let taken: Step | undefined;
  const first = steps.findIndex(([from]) => from === ride.status);
  for (const [, step, durationMs] of steps.slice(Math.max(0, first))) {
    if (!(await sleep(durationMs(), signal))) return taken;
    report();
    if (!(await takeStep(ride.rideId, step, driving, signal))) return taken;
    taken = step;
    if (step === 'cancel') return taken;
  }
  return taken;
}

/**
 * Sends a step until it is answered. Resolves with false if the answer is a refusal, which means that the ride is over. A
 * driver never knows the PIN of a ride, and waits until somebody else has started the trip.
 */
async function takeStep(
  rideId: string,
  step: Step,
  { client, onError }: Driving,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    try {
      await client.takeStep(rideId, step);
      return true;
    } catch (error) {
      const lacksPin = error instanceof Refusal && error.code === 'wrong_pin';
      const isRefused = error instanceof Refusal && error.status < 500 && !lacksPin;
      const isExpected = error instanceof Refusal && error.status === 409;
      if (!isExpected) onError(error);
      if (isRefused || !(await sleep(lacksPin ? pinMs : retryMs, signal))) return false;
    }
  }
}

/** A car that drives in straight lines at one speed. */
export interface Car {
  where(): Point & { heading: number };
  isParked(): boolean;
  /** Starts a drive from the car's current position. Returns its duration in ms. */
  driveTo(place: Point): number;
}

export function createCar(at: Point, kmh: number, now = Date.now): Car {
  let leg = legBetween(at, at, new Date(now()), 0);
  return {
    where: () => placeOnLeg(leg, now()),
    isParked: () => now() >= leg.endAt.getTime(),
    driveTo(place) {
      const from = placeOnLeg(leg, now());
      const durationMs = (haversineKm(from, place) / kmh) * 3_600_000;
      leg = legBetween(from, place, new Date(now()), durationMs, arrivalHeading(leg));
      return durationMs;
    },
  };
}
