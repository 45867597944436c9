import { randomUUID } from 'node:crypto';
import { updateDocuments } from '../../../shared/base/mongo/batch.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { readRide } from '../../../shared/rides/read-ride.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Delivery, Ride } from '../../../shared/rides/ride-types.ts';
import { simulatedOffer } from '../../../shared/rides/simulation.ts';
import { claimEvent } from '../../../workers/webhooks/claim-event.ts';
import { settleLast } from '../../../workers/webhooks/settle-event.ts';
import { assertCount, type Measurement } from '../bench.ts';
import { newKeys } from '../data/keys.ts';
import { biddingRide, insertRides } from '../data/rides.ts';
import { cpuUsOf } from '../measured/machine-cpu.ts';
import { actor, type Stack } from '../stack.ts';

/** Operations in each command: about as many as share one in the service when whole rides keep the machine busy. */
const operationsPerCommand = 8;

const operations = ['a step, read and written', 'a claim', 'the settling of the last event', 'a reading'] as const;

/**
 * MongoDB's CPU cost of each operation in the life of a ride. The floor is an update of one field without an index,
 * with only `_id` as filter, in commands of the same size.
 */
export const mongoOperations: Measurement = async ({ stack, quick, rounds, say }) => {
  const costs = operations.map((): number[] => []);
  const floor: number[] = [];
  // The first round warms the server up.
  for (let round = 0; round <= rounds; round++) {
    say(`operations of MongoDB: ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}`);
    const measured = await costsOf(stack, quick || round === 0 ? 1_000 : 4_000);
    if (round === 0) continue;
    floor.push(measured.floor);
    for (const [index, cost] of measured.costs.entries()) costs[index]?.push(cost);
  }
  return operations.map((name, index) => ({
    name: `CPU of MongoDB, ${name} (floor: an update)`,
    unit: 'us',
    service: costs[index] ?? [],
    floor,
  }));
};

/** The costs in the order of `operations`, in microseconds for each ride, measured with `count` new rides. */
async function costsOf(stack: Stack, count: number): Promise<{ costs: number[]; floor: number }> {
  const keys = await newKeys(100, 'test');
  const made = Array.from({ length: count }, (_, index) => biddingRide(keys[index % keys.length] as (typeof keys)[0]));
  await insertRides(made);
  const ctx = actor(stack);
  const token = randomUUID();
  const at = new Date();
  const delivery: Delivery = {
    outcome: 'delivered',
    url: 'https://partner.example/',
    httpStatus: 200,
    durationMs: 41,
    at,
  };
  const costOf = async (run: (some: Ride[]) => Promise<unknown[]>): Promise<number> => {
    const before = cpuUsOf(stack.mongo.pid);
    let done = 0;
    for (let start = 0; start < count; start += operationsPerCommand) {
      done += (await run(made.slice(start, start + operationsPerCommand))).filter(Boolean).length;
    }
    assertCount(count, done, 'operations that did their work');
    return (cpuUsOf(stack.mongo.pid) - before) / count;
  };
  const each = (operation: (ride: Ride) => Promise<unknown>) =>
    costOf((some) => Promise.all(some.map((ride) => operation(ride))));

  const floor = await costOf((some) =>
    updateDocuments(
      rides,
      some.map(({ _id }) => ({ filter: { _id }, change: { $set: { scenario: 'default' } } })),
    ),
  );
  const costs = [
    await each((ride) => applyAction(ctx, ride._id, { action: 'offer', ...simulatedOffer(ride, 'offer') }, 'anyone')),
    await each(({ _id }) => claimEvent(_id, 1, token)),
    await each(({ _id }) => settleLast(_id, 1, token, delivery)),
    await each(({ _id }) => readRide({ rideId: _id, owner: 'anyone' })),
  ];
  return { costs, floor };
}
