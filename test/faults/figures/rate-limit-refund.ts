import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { rides } from '../../../shared/rides/ride.ts';
import { creationLog } from '../../support/charges.ts';
import { becomes } from '../../support/until.ts';
import type { World } from '../world/world.ts';
import { createAtOnce, type Part } from './create-at-once.ts';
import { httpConnection } from './http-client.ts';
import { sum } from './in-world.ts';

const limit = 30;
const failing = 24;

/**
 * Kills MongoDB at the first insert, when the other creations are already charged, and sends more creations during the
 * outage. All charges of creations answered 503 must be refunded: immediately if nothing was sent to MongoDB, otherwise
 * once MongoDB confirms that the ride does not exist. Of the next 300 creations, exactly the rest of the limit must be
 * accepted.
 */
export async function refundAfterOutage(world: World, outages: number): Promise<Part> {
  const redis = new Redis(world.redis.url);
  const violations: string[] = [];
  const refunds: number[] = [];
  for (let outage = 0; outage < outages; outage++) {
    const { keyId, key } = await world.newKey({ mode: 'live', manner: 'none' });
    const log = creationLog(keyId);
    const died = new Promise<void>((resolve) => {
      const disarms = world.apis.map(({ wires }) =>
        wires?.arm('before the insert', () => {
          for (const disarm of disarms) disarm?.();
          resolve(world.mongo.kill());
        }),
      );
    });
    const failed = createAtOnce(world, key, failing);
    await died;
    await setTimeout(500);
    const charged = await redis.zcard(log);
    // These creations come during the outage, and fail before they are charged.
    const late = await createAtOnce(world, key, 8);
    const answers = [...(await failed), ...late];
    const made = answers.filter(({ status }) => status === 201).length;
    const odd = answers.filter(({ status }) => status !== 201 && status !== 503);
    violations.push(...odd.map(({ status }) => `MongoDB down: a creation was answered ${status}`));
    await world.mongo.start();
    await waitUntilServing(world, key);
    const stored = await rides.countDocuments({ keyId });
    await becomes(async () => (await redis.zcard(log)) === stored, 10_000, 50);
    const left = await redis.zcard(log);
    if (left !== stored) violations.push(`${stored} rides are stored, but ${left} are charged after the outage`);
    refunds.push(charged - left);

    const next = await createAtOnce(world, key, 300);
    const more = next.filter(({ status }) => status === 201).length;
    if (stored + more !== limit)
      violations.push(`${stored} + ${more} creations were accepted in the minute of the outage`);
    const atLast = await rides.countDocuments({ keyId });
    if (atLast !== limit) violations.push(`${atLast} rides were made in one minute`);
    if (made > stored) violations.push(`${made} creations were answered 201, but ${stored} rides are stored`);
  }
  redis.disconnect();
  if (sum(refunds) === 0) violations.push('no creation was charged when MongoDB was killed: nothing was measured');
  const reached =
    `${sum(refunds)} charges of failed inserts refunded in ${outages} kills of MongoDB, then exactly ${limit} of the ` +
    `same minute accepted`;
  return { reached, violations };
}

/** Waits until every API process is connected to MongoDB again. */
async function waitUntilServing(world: World, key: string): Promise<void> {
  for (const { name, url } of world.apis) {
    const api = httpConnection(url);
    const serves = async () => (await api.request({ path: '/v1', key })).status === 200;
    if (!(await becomes(serves, 10_000, 50))) throw new Error(`${name} does not serve 10 s after MongoDB returned`);
    api.close();
  }
}
