import type { Car } from './car.ts';
import { type GatewayClient, type OwnRide, Refusal, type Step } from './gateway-client.ts';
import { between, type Random } from './random.ts';
import { rested } from './rest.ts';
import type { Temper } from './temper.ts';

export interface Driving {
  client: Pick<GatewayClient, 'takeStep'>;
  car: Car;
  temper: Pick<Temper, 'cancels'>;
  random: Random;
  /** How many times faster than a person the driver is. */
  speed: number;
  /** Tells the service where the car is, at the moments that matter. */
  report(): void;
  failed(error: unknown): void;
}

const boardingMs = 20_000;
const retryMs = 1_000;

/**
 * Drives a ride from the status that it is in to its end, or until `signal` says that it is over. Resolves with the last
 * step that was taken, if any.
 */
export async function driveRide(ride: OwnRide, driving: Driving, signal: AbortSignal): Promise<Step | undefined> {
  const { car, temper, random, speed, report } = driving;
  const cancels = random() < temper.cancels;
  const steps: [from: OwnRide['status'], step: Step, durationMs: () => number][] = [
    ['driver_arriving', 'arrive', () => car.driveTo(ride.pickup)],
    ['arrived', cancels ? 'cancel' : 'start', () => between(random, 0.5, 1.5) * (boardingMs / speed)],
    ['in_progress', 'complete', () => car.driveTo(ride.destination)],
  ];
  let taken: Step | undefined;
  const first = steps.findIndex(([from]) => from === ride.status);
  for (const [, step, durationMs] of steps.slice(Math.max(0, first))) {
    if (!(await rested(durationMs(), signal))) return taken;
    report();
    if (!(await takeStep(ride.rideId, step, driving, signal))) return taken;
    taken = step;
    if (step === 'cancel') return taken;
  }
  return taken;
}

/** Sends a step until it is answered. Resolves with false where it is refused: the ride is over. */
async function takeStep(
  rideId: string,
  step: Step,
  { client, failed }: Driving,
  signal: AbortSignal,
): Promise<boolean> {
  for (;;) {
    try {
      await client.takeStep(rideId, step);
      return true;
    } catch (error) {
      const isRefused = error instanceof Refusal && error.status < 500;
      if (!isRefused || error.status !== 409) failed(error);
      if (isRefused || !(await rested(retryMs, signal))) return false;
    }
  }
}
