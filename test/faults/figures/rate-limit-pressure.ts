import { setTimeout } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { sha256 } from '../../../shared/base/ids.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { creationLog } from '../../support/charges.ts';
import type { World } from '../world/world.ts';
import type { Part } from './create-at-once.ts';
import { httpClient, smallRide } from './http-client.ts';
import { numbers } from './in-world.ts';

const limit = 30;
const windowMs = 60_000;
const keyCount = 3;
/**
 * Each key sends a creation at this interval, which is so short that a place in the limit is used a few ms after it
 * becomes free.
 */
const everyMs = 20;
/**
 * Tolerated difference between a ride's createdAt and its charge, which are read one after the other from different
 * clocks.
 */
const toleranceMs = 250;

/**
 * Sends creations steadily and checks that no 60 s contain more than 30. The scores of the charges, which have Redis's
 * time, decide. A creation's Idempotency-Key is also the name of its charge, so each ride can be compared with its
 * charge: createdAt may differ only by the time between charge and insert.
 */
export async function steadyPressure(world: World, forMs: number): Promise<Part> {
  const keys = await Promise.all(numbers(keyCount).map(() => world.newKey({ mode: 'live', manner: 'none' })));
  const answered = new Map(keys.map(({ keyId }) => [keyId, new Set<string>()]));
  const strays: string[] = [];
  const clients = world.apis.map(({ url }) => httpClient(url, 8));
  const until = performance.now() + forMs;
  const press = async (keyId: string, key: string) => {
    const inFlight: Promise<void>[] = [];
    for (let index = 0; performance.now() < until; index++) {
      const name = `steady-${index}`;
      const headers = { 'Idempotency-Key': name };
      const asked = clients[index % clients.length]?.request({
        method: 'POST',
        path: '/v1/rides',
        key,
        headers,
        body: smallRide,
      });
      inFlight.push(
        (async () => {
          const answer = await asked;
          if (answer?.status === 201) answered.get(keyId)?.add(sha256(name));
          else if (answer?.status !== 429) strays.push(`a creation was answered ${answer?.status}`);
        })(),
      );
      await setTimeout(everyMs);
    }
    await Promise.all(inFlight);
  };
  await Promise.all(keys.map(({ keyId, key }) => press(keyId, key)));
  for (const client of clients) client.close();

  const redis = new Redis(world.redis.url);
  const results = await Promise.all(
    keys.map(({ keyId }) => checkKey(redis, keyId, answered.get(keyId) ?? new Set(), forMs)),
  );
  redis.disconnect();
  const violations = [...strays, ...results.flatMap((result) => result.violations)];
  const least = (values: number[]) => Math.min(...values).toLocaleString('en');
  const reached =
    `the 31st creation never before ${least(results.map(({ leastMs }) => leastMs))} ms after the 1st by Redis's clock ` +
    `(${least(results.map(({ leastCreatedMs }) => leastCreatedMs))} ms by createdAt) in ${forMs / 1_000} s of steady load on ` +
    `${keyCount} keys, ${1_000 / everyMs} a second each, and all ${results.map(({ made }) => made).join(', ')} allowed ones accepted`;
  return { reached, violations };
}

async function checkKey(redis: Redis, keyId: string, answered: ReadonlySet<string>, forMs: number) {
  const violations: string[] = [];
  const listed = await redis.zrange(creationLog(keyId), '0', '-1', 'WITHSCORES');
  const chargedAt = new Map(numbers(listed.length / 2).map((i) => [`${listed[2 * i]}`, Number(listed[2 * i + 1])]));
  const stored = await rides.find({ keyId }, { projection: { createdAt: 1, idempotency: 1 } }).toArray();
  for (const ride of stored) {
    const charge = chargedAt.get(sha256(ride.idempotency?.key ?? ''));
    if (charge === undefined) violations.push(`${ride._id} was never charged`);
    else if (Math.abs(ride.createdAt.getTime() - charge) > toleranceMs)
      violations.push(`${ride._id} is far from its charge`);
  }
  for (const member of chargedAt.keys()) if (!answered.has(member)) violations.push('a charge has no 201');
  const leastMs = shortestSpan([...chargedAt.values()]);
  const leastCreatedMs = shortestSpan(stored.map(({ createdAt }) => createdAt.getTime()));
  if (leastMs < windowMs) violations.push(`31 charges within ${leastMs} ms`);
  if (leastCreatedMs < windowMs - toleranceMs) violations.push(`31 rides within ${leastCreatedMs} ms`);
  const fit = limit * Math.ceil(forMs / windowMs);
  if (stored.length !== fit) violations.push(`${stored.length} rides were created, but the limit allows ${fit}`);
  return { violations, leastMs, leastCreatedMs, made: stored.length };
}

/** The shortest time between an entry and the 30th entry after it, in ms. */
function shortestSpan(times: number[]): number {
  const sorted = times.sort((a, b) => a - b);
  return Math.min(...sorted.slice(limit).map((at, index) => at - (sorted[index] ?? 0)));
}
