import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { rides } from '../../../shared/rides/ride.ts';
import { creationLog } from '../../support/charges.ts';
import type { World } from '../world/world.ts';
import { createAtOnce, type Part } from './create-at-once.ts';
import { httpClient } from './http-client.ts';
import { sum } from './in-world.ts';

const limit = 30;
const failing = 24;

/**
 * Kills MongoDB at the first insert, when the other creations are charged as well, and while it is away asks for more;
 * all that were answered 503 must give their places back: at once where nothing was sent, and when MongoDB has said that
 * there is no such ride where that was unknown. Of the next 300 exactly the rest go through.
 */
export async function refundAfterOutage(world: World, outages: number): Promise<Part> {
  const redis = new Redis(world.redis.url);
  const violations: string[] = [];
  const takenBack: number[] = [];
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
    // Whoever asks now does not come so far as to be charged.
    const late = await createAtOnce(world, key, 8);
    const answers = [...(await failed), ...late];
    const made = answers.filter(({ status }) => status === 201).length;
    const odd = answers.filter(({ status }) => status !== 201 && status !== 503);
    violations.push(...odd.map(({ status }) => `MongoDB away: a creation was answered ${status}`));
    await world.mongo.start();
    await serving(world, key);
    const stored = await rides.countDocuments({ keyId });
    const left = await chargesLeft(redis, log, stored);
    if (left !== stored) violations.push(`${stored} rides are stored, and ${left} are charged after the outage`);
    takenBack.push(charged - left);

    const next = await createAtOnce(world, key, 300);
    const more = next.filter(({ status }) => status === 201).length;
    if (stored + more !== limit)
      violations.push(`${stored} + ${more} creations went through in the minute of the outage`);
    const atLast = await rides.countDocuments({ keyId });
    if (atLast !== limit) violations.push(`${atLast} rides were made in one minute`);
    if (made > stored) violations.push(`${made} rides were answered, and ${stored} are stored`);
  }
  redis.disconnect();
  if (sum(takenBack) === 0) violations.push('no creation was charged when MongoDB died: nothing was measured');
  const reached =
    `${sum(takenBack)} charges of inserts that failed taken back in ${outages} kills of MongoDB, then exactly ${limit} of the ` +
    `same minute went through`;
  return { reached, violations };
}

/** How many are charged, when it has become so many as there are rides, or 10 s later. */
async function chargesLeft(redis: Redis, log: string, stored: number): Promise<number> {
  const deadline = performance.now() + 10_000;
  let left = await redis.zcard(log);
  while (left !== stored && performance.now() < deadline) {
    await setTimeout(50);
    left = await redis.zcard(log);
  }
  return left;
}

/** Every process has its connection to MongoDB again. */
async function serving(world: World, key: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  for (const { name, url } of world.apis) {
    const client = httpClient(url, 1);
    while ((await client.request({ path: '/v1', key })).status !== 200) {
      if (performance.now() > deadline) throw new Error(`${name} does not serve 10 s after MongoDB is back`);
      await setTimeout(50);
    }
    client.close();
  }
}
