import type { Mode } from '../../../shared/base/terms.ts';
import { assertAll, assertCount, type Bench, type Measurement } from '../bench.ts';
import { newKeys } from '../data/keys.ts';
import { creation } from '../data/requests.ts';
import { serviceBatch } from '../delivery/batches.ts';
import { startReceiver } from '../delivery/receiver.ts';
import { usesOfEach } from '../paths/create.ts';
import type { Figure } from '../report.ts';

const kept = 1_000;

/**
 * The memory of Redis for rides that wait for their next timer: jobs, the queue's own keys and the log of the rate
 * limit.
 */
export const redisMemory: Measurement = async (bench) => [
  await waitingRide(bench, 'live'),
  await waitingRide(bench, 'test'),
  ...(await finishedJobs(bench)),
];

async function waitingRide({ stack, say, quick }: Bench, mode: Mode): Promise<Figure> {
  const rideCount = quick ? 1_000 : 2_000;
  say(`Redis memory: ${rideCount} waiting rides, ${mode}`);
  await stack.clean();
  const load = await stack.startLoad();
  const api = await stack.startApi();
  const create = async (count: number) => {
    const requests = (await newKeys(count / usesOfEach, mode)).map((key) => creation(key));
    const result = await load.closed(api, { connections: 4, seconds: 60, requests, usesOfEach });
    assertAll(201, result, 'creation');
    assertCount(count, result.operations, 'creations');
  };
  await create(50);
  const before = await stack.redisBytes();
  await create(rideCount);
  const bytes = ((await stack.redisBytes()) - before) / rideCount;
  return {
    name: `Redis memory for a waiting ride, ${mode}`,
    unit: 'bytes',
    service: [bytes],
    goal: '<= 2048',
  };
}

async function finishedJobs({ stack, say }: Bench): Promise<Figure[]> {
  say(`Redis memory: ${kept} finished jobs`);
  await stack.clean();
  const receiver = await startReceiver(stack);
  const keys = await newKeys(1_000, 'live', receiver.url);
  await stack.start('webhooks', 'workers/main', { args: ['webhooks'], env: receiver.senderEnv });
  const before = await stack.redisBytes();
  const batch = await serviceBatch(stack, receiver, keys, kept);
  await batch.run();
  await batch.check();
  assertCount(kept, await stack.queues.webhooks.getCompletedCount(), 'finished jobs kept');
  const megabytes = ((await stack.redisBytes()) - before) / 1_048_576;
  const stream = Number(await stack.redis.memory('USAGE', stack.queues.webhooks.keys.events ?? '', 'SAMPLES', 0));
  return [
    { name: `Redis memory for ${kept} finished jobs kept`, unit: 'MB', service: [megabytes], goal: '<= 1.5' },
    { name: 'of that the log of what happened in the queue', unit: 'MB', service: [stream / 1_048_576] },
  ];
}
