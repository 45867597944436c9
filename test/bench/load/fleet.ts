import { setTimeout } from 'node:timers/promises';
import { randomOf } from '../../../dev/fleet/random.ts';
import { type Area, type Fleet, type FleetOptions, startFleet } from '../../../dev/fleet/start-fleet.ts';
import { pointAt } from '../../../shared/rides/position.ts';
import { answer } from '../measured/ipc.ts';

/** The options of a separate process that simulates drivers (as `npm run fleet`) and partners who create live rides near them. */
export type FleetDrivers = Pick<
  FleetOptions,
  'url' | 'keys' | 'area' | 'seed' | 'drivingSpeed' | 'thinkingSpeed' | 'behaviour'
>;

/**
 * Rides that partners create at a fixed rate. A partner accepts an offer, or cancels if there is none after some tries.
 */
export type FleetRides = {
  url: string;
  keys: string[];
  usesOfEach: number;
  area: Area;
  tripKm: number;
  perSecond: number;
  seconds: number;
};

export type FleetResult = {
  created: number;
  accepted: number;
  /** The rides since the last `forget`. */
  rideIds: string[];
  /** Each driver who was told of one of these rides. Times are Unix times in milliseconds. */
  told: { rideId: string; createdAt: number; availableAt: number; at: number }[];
  figures: Fleet['figures'];
};

const chooseAfterMs = 3_000;
const chooseAgainMs = 3_000;
const patience = 3;

const told = new Map<string, { at: number; availableAt: number }[]>();
const sentAt = new Map<string, number>();
let fleet: Fleet | undefined;
let accepted = 0;

answer('drivers', async (options: FleetDrivers): Promise<number> => {
  const onRequest = (rideId: string, availableAt: number) => {
    told.set(rideId, [...(told.get(rideId) ?? []), { at: performance.now(), availableAt }]);
  };
  fleet = await startFleet({ ...options, onRequest });
  return fleet.figures.online;
});

answer('rides', async (options: FleetRides): Promise<void> => {
  const random = randomOf('rides', sentAt.size);
  const playing: Promise<void>[] = [];
  const failures: unknown[] = [];
  const startedAt = performance.now();
  const count = Math.ceil(options.perSecond * options.seconds);
  for (let number = 0; number < count; number++) {
    await setTimeout(Math.max(0, startedAt + (number * 1_000) / options.perSecond - performance.now()));
    const key = options.keys[Math.floor(number / options.usesOfEach)] ?? '';
    const pickup = pointAt(options.area, options.area.km * Math.sqrt(random()), random() * 360);
    const destination = pointAt(pickup, options.tripKm, random() * 360);
    const ride = playRide(`${options.url}/v1/rides`, key, { pickup, destination, fare: 20 });
    playing.push(ride.catch((error) => void failures.push(error)));
  }
  await Promise.all(playing);
  if (failures.length > 0) throw failures[0];
});

answer('result', (): FleetResult => {
  if (!fleet) throw new Error('no fleet was started');
  const unixTime = (at: number) => performance.timeOrigin + at;
  return {
    created: sentAt.size,
    accepted,
    rideIds: [...sentAt.keys()],
    told: [...sentAt].flatMap(([rideId, createdAt]) =>
      (told.get(rideId) ?? []).map(({ at, availableAt }) => ({
        rideId,
        createdAt: unixTime(createdAt),
        availableAt: unixTime(availableAt),
        at: unixTime(at),
      })),
    ),
    figures: fleet.figures,
  };
});
/** Excludes all rides so far from the result. */
answer('forget', () => {
  sentAt.clear();
  accepted = 0;
});
answer('stop', () => fleet?.stop());
process.send?.('ready');

async function playRide(rides: string, key: string, request: object): Promise<void> {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const call = async (path: string, method: string, body?: object) => {
    const response = await fetch(rides + path, { method, headers, body: body && JSON.stringify(body) });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const createdAt = performance.now();
  const created = await call('', 'POST', request);
  if (created.status !== 201) throw new Error(`a creation was answered ${created.status}`);
  const { rideId } = created.body;
  sentAt.set(rideId, createdAt);
  await setTimeout(chooseAfterMs);
  for (let tries = 0; tries < patience; tries++) {
    const { offers } = (await call(`/${rideId}/offers`, 'GET')).body;
    for (const { offerId } of offers) {
      const { status } = await call(`/${rideId}/accept`, 'POST', { offerId });
      if (status === 200) accepted += 1;
      if (status === 200) return;
    }
    await setTimeout(chooseAgainMs);
  }
  await call(`/${rideId}/cancel`, 'POST');
}
