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
/** Of each key: often enough that a place that frees is taken within some ms. */
const everyMs = 20;
/** A ride's createdAt is read just after its charge, by another clock: so far they may lie apart. */
const toleranceMs = 250;

/**
 * Asks for creations without an end and looks whether any 60 s hold more than 30. The authority is the score of each
 * charge, by Redis's clock; the Idempotency-Key of a creation is the charge's name, so that each ride is matched with its
 * own. The rides' createdAt must say the same, to within the time between charge and insert.
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
  const looked = await Promise.all(
    keys.map(({ keyId }) => lookAt(redis, keyId, answered.get(keyId) ?? new Set(), forMs)),
  );
  redis.disconnect();
  const violations = [...strays, ...looked.flatMap((look) => look.violations)];
  const least = (values: number[]) => Math.min(...values).toLocaleString('en');
  const reached =
    `the 31st creation never before ${least(looked.map((look) => look.leastMs))} ms after the 1st by Redis's clock ` +
    `(${least(looked.map((look) => look.leastCreatedMs))} ms by createdAt) in ${forMs / 1_000} s of steady pressure on ` +
    `${keyCount} keys, ${1_000 / everyMs} a second each, and all ${looked.map((look) => look.made).join(', ')} that fit went through`;
  return { reached, violations };
}

async function lookAt(redis: Redis, keyId: string, answered: ReadonlySet<string>, forMs: number) {
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
  const leastMs = leastSpan([...chargedAt.values()]);
  const leastCreatedMs = leastSpan(stored.map(({ createdAt }) => createdAt.getTime()));
  if (leastMs < windowMs) violations.push(`31 charges lie within ${leastMs} ms`);
  if (leastCreatedMs < windowMs - toleranceMs) violations.push(`31 rides lie within ${leastCreatedMs} ms`);
  const fit = limit * Math.ceil(forMs / windowMs);
  if (stored.length !== fit) violations.push(`${stored.length} rides were made where ${fit} fit`);
  return { violations, leastMs, leastCreatedMs, made: stored.length };
}

/** The shortest time from one entry to the 30th after it. */
function leastSpan(times: number[]): number {
  const sorted = times.sort((a, b) => a - b);
  return Math.min(...sorted.slice(limit).map((at, index) => at - (sorted[index] ?? 0)));
}
