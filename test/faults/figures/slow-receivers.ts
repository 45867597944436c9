import { setTimeout } from 'node:timers/promises';
import type { NewKey } from '../../../shared/keys/manage-keys.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { percentile } from '../../bench/statistics.ts';
import { becomes } from '../../support/until.ts';
import type { Figure, FigureResult, FigureRun } from '../figure.ts';
import type { Receipt } from '../world/receivers.ts';
import type { World } from '../world/world.ts';
import { httpClient, smallRide } from './http-client.ts';
import { inWorld, numbers } from './in-world.ts';

const hangingKeys = 50;
const promptKeys = 15;
/** The highest steady rate of creations of a key: 30 a minute. */
const everyMs = 2_000;
const startMs = 1_000;

export const slowReceivers: Figure = {
  name: 'slow-receivers',
  goal: `${hangingKeys} keys whose receivers all hang: another key's events start within 1 s (p99)`,
  async measure(run) {
    const settings = { SIMULATION_SPEED: '2', BIDDING_TIMEOUT_MS: '9000' };
    const options = { build: run.build, apis: 1, copies: 2, seed: run.seed, settings };
    const { measured, crashes } = await inWorld(options, (world) => measureIn(world, run));
    return { ...measured, violations: [...measured.violations, ...crashes] };
  },
};

async function measureIn(world: World, { short, say }: FigureRun): Promise<FigureResult> {
  const seconds = short ? 8 : 30;
  const hanging = await Promise.all(numbers(hangingKeys).map(() => world.newKey({ manner: 'silent' })));
  const prompt = await Promise.all(numbers(promptKeys).map(() => world.newKey({ manner: 'prompt' })));
  const client = httpClient(world.apis[0]?.url ?? '', 100);
  const failures: string[] = [];
  const create = async ({ key }: NewKey, headers = {}) => {
    const { status } = await client.request({ method: 'POST', path: '/v1/rides', key, headers, body: smallRide });
    if (status !== 201) failures.push(`a creation was answered ${status}`);
  };
  const startedAt = performance.now();

  const createSteadily = (keys: NewKey[], headers?: Record<string, string>) =>
    keys.map(async (key, index) => {
      await setTimeout((everyMs * index) / keys.length);
      for (let made = 1; everyMs * made <= seconds * 1_000; made++) {
        await create(key, headers);
        await setTimeout(Math.max(0, startedAt + everyMs * (made + index / keys.length) - performance.now()));
      }
    });
  // In this scenario a ride has an event after 1 s and one after 9 s, so an attempt hangs nearly all the time, at
  // little cost to the machine.
  const hangs = { 'X-Service-Test-Scenario': 'no_auto_accept' };
  await Promise.all([...createSteadily(hanging, hangs), ...createSteadily(prompt)]);
  say(`all rides created after ${Math.round(performance.now() - startedAt)} ms`);

  const promptIds = new Set(prompt.map(({ keyId }) => keyId));
  const open = { keyId: { $in: [...promptIds] }, $or: [{ unsettled: { $gt: 0 } }, { nextDueAt: { $exists: true } }] };
  await becomes(async () => (await rides.countDocuments(open)) === 0, 15_000, 200);
  const left = await rides.countDocuments(open);
  client.close();
  // Kills the workers instead of waiting for the hanging attempts.
  await Promise.all(world.workers.map((worker) => worker.kill()));
  const [ours, theirs] = [true, false].map((isPrompt) =>
    world.receivers.receipts.filter(({ keyId }) => promptIds.has(keyId) === isPrompt),
  ) as [Receipt[], Receipt[]];
  return resultOf(waitsOf(ours), { hung: theirs.length, left, failures });
}

/**
 * How long each event waited for its attempt, in ms: from the time when it became the ride's oldest until the receiver
 * got it. This includes recording the previous event's outcome.
 */
function waitsOf(receipts: Receipt[]): number[] {
  const answeredAt = new Map(receipts.map(({ rideId, seq, answeredAt }) => [`${rideId}_${seq}`, answeredAt ?? 0]));
  return receipts.map(({ rideId, seq, body, receivedAt }) => {
    const { at } = JSON.parse(body) as { at: number };
    return receivedAt - Math.max(at, answeredAt.get(`${rideId}_${seq - 1}`) ?? 0);
  });
}

function resultOf(
  waits: number[],
  { hung, left, failures }: { hung: number; left: number; failures: string[] },
): FigureResult {
  const p99 = percentile(waits, 0.99);
  const reached =
    `started after ${percentile(waits, 0.5)} ms (p50), ${p99} ms (p99), ${Math.max(...waits)} ms at most: ${waits.length} events of ` +
    `${promptKeys} keys, while ${hung} attempts of ${hangingKeys} others hung`;
  return {
    reached,
    violations: [
      ...failures,
      ...(p99 <= startMs ? [] : [`events started after ${p99} ms (p99)`]),
      ...(left > 0 ? [`${left} rides of prompt receivers were not finished in time`] : []),
      ...(hung > 0 ? [] : ['no attempt hung: nothing was measured']),
    ],
  };
}
