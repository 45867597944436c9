import { setTimeout } from 'node:timers/promises';
import type { Context } from '../../../shared/base/context.ts';
import type { Point } from '../../../shared/base/great-circle.ts';
import { needs } from '../../../shared/base/terms.ts';
import { goOnline } from '../../../shared/drivers/change-availability.ts';
import { createDriver, type NewDriver } from '../../../shared/drivers/manage-drivers.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { createRide } from '../../../shared/rides/create-ride.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { RideRequest } from '../../../shared/rides/ride-types.ts';
import { person } from '../../support/drivers.ts';
import type { Figure } from '../figure.ts';
import { type Random, seededRandom } from '../random.ts';
import { inWorld, numbers, runConcurrently, withContext } from './in-world.ts';

/** The places are far from each other, so each ride has the drivers of one place. */
const places = numbers(20).map((index) => ({ lat: -20 + index, lng: 10 }));
const driversAtPlace = 25;
const batchSize = 200;

export const fittingCars: Figure = {
  name: 'needs',
  promise: 'A driver who lacks something that a ride needs is never asked',
  goal: '0 of 10,000 rides with needs are opened to a driver who lacks any of them',
  async measure(run) {
    const random = seededRandom(run.seed);
    const count = run.short ? 1_000 : 10_000;
    const settings = { LOG_LEVEL: 'warn', BIDDING_TIMEOUT_MS: '600000' };
    const options = { build: run.build, settings, pools: ['bidding', 'dispatch'] as const, copies: 2 };
    const { measured, crashes } = await inWorld(options, (world) =>
      withContext(world, async (ctx) => {
        const { keyId } = await world.newKey({ mode: 'live', manner: 'none' });
        const drivers = await hire(random);
        const equipmentOf = new Map(drivers.map(({ driverId, equipment }) => [driverId, equipment]));
        const result = { asked: 0, violations: [] as string[] };
        for (let made = 0; made < count; made += batchSize) {
          // A driver who has not reported for a minute is not asked.
          await runConcurrently(drivers, 20, ({ place, ...driver }) => goOnline(driver, place, new Date(ctx.now())));
          const rideIds = await openRides(ctx, keyId, random);
          for (const { _id, needs: wanted = [], asked = [] } of await rides.find({ _id: { $in: rideIds } }).toArray()) {
            result.asked += asked.length;
            for (const { driverId } of asked) {
              const missing = wanted.filter((need) => !equipmentOf.get(driverId)?.includes(need));
              if (missing.length > 0) result.violations.push(`${_id}: was opened to a driver without ${missing}`);
            }
          }
          await runConcurrently(rideIds, 50, async (rideId) => {
            await applyAction(ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
          });
          if ((made + batchSize) % 2_000 === 0) run.say(`${made + batchSize} rides`);
        }
        return result;
      }),
    );
    const { asked, violations } = measured;
    const nobody = asked === 0 ? ['no driver was asked'] : [];
    const text = `${violations.length} of ${count.toLocaleString('en')} rides, which were opened ${asked.toLocaleString('en')} times`;
    return { reached: text, violations: [...violations, ...nobody, ...crashes] };
  },
};

interface HiredDriver extends Pick<Required<NewDriver>, 'carType' | 'seats' | 'equipment'> {
  driverId: string;
  place: Point;
}

/** Drivers with any equipment at each place. */
async function hire(random: Random): Promise<HiredDriver[]> {
  const hired: HiredDriver[] = [];
  const all = places.flatMap((place) => numbers(driversAtPlace).map(() => place));
  await runConcurrently(all, 20, async (place) => {
    const equipment = needs.filter(() => random() < 0.6);
    const { driverId } = await createDriver({ ...person, equipment });
    hired.push({ driverId, place, carType: person.carType, seats: person.seats, equipment });
  });
  return hired;
}

/** Creates rides with needs, and waits until each has had its first dispatch round. */
async function openRides(ctx: Context, keyId: string, random: Random): Promise<string[]> {
  const rideIds: string[] = [];
  await runConcurrently(numbers(batchSize), 50, async (index) => {
    const pickup = places[index % places.length] as (typeof places)[number];
    const wanted = needs.filter(() => random() < 0.4);
    const request: RideRequest = {
      ...{ pickup, destination: pickup, fare: 20, carType: 'regular', rideType: 'standard' },
      ...{ passengerCount: 1, distanceKm: 1, ...(wanted.length > 0 && { needs: wanted }) },
    };
    const key = { keyId, accountId: 'acc_faults', mode: 'live', limit: undefined } as const;
    rideIds.push((await createRide(ctx, { key, request }))._id);
  });
  const waiting = { _id: { $in: rideIds }, rounds: { $exists: false } };
  while ((await rides.countDocuments(waiting)) > 0) await setTimeout(20);
  return rideIds;
}
