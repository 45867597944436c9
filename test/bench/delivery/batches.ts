import type { Queue } from 'bullmq';
import { rides } from '../../../shared/rides/ride.ts';
import { enqueueNextDelivery } from '../../../shared/rides/ride-jobs.ts';
import { becomes } from '../../support/until.ts';
import { assertCount } from '../bench.ts';
import type { BenchKey } from '../data/keys.ts';
import { countUnsettled, insertRides, unsettledRide } from '../data/rides.ts';
import { producer, type Stack } from '../stack.ts';
import type { BenchReceiver } from './receiver.ts';

const longestMs = 90_000;

/** Jobs in a paused queue. */
export interface Batch {
  /** Resumes the queue. Resolves with the rate when the last job has ended. */
  run(): Promise<number>;
  /** Throws unless the work was done. Not part of `run`, because `run` is measured. */
  check(): Promise<void>;
}

/** Creates rides with one unsettled event each, and the jobs of these events. */
export async function serviceBatch(
  stack: Stack,
  receiver: BenchReceiver,
  keys: readonly BenchKey[],
  count: number,
): Promise<Batch> {
  const { webhooks } = stack.queues;
  const made = Array.from({ length: count }, (_, index) => unsettledRide(keys[index % keys.length] as BenchKey));
  await webhooks.pause();
  await insertRides(made);
  for (let start = 0; start < count; start += 500) {
    await Promise.all(made.slice(start, start + 500).map((ride) => enqueueNextDelivery(producer(stack), ride)));
  }
  await receiver.reset();
  const isSettled = async () => (await countUnsettled()) === 0;
  return {
    run: () => runJobs(webhooks, receiver, count, isSettled),
    async check() {
      assertCount(count, (await receiver.received()).count, 'deliveries received');
      const delivered = await rides.countDocuments({ 'events.delivery.outcome': 'delivered', settledSeq: 1 });
      assertCount(count, delivered, 'deliveries recorded in MongoDB');
      await rides.deleteMany({});
    },
  };
}

/** Creates jobs with the same bodies for the floor, a bare worker. */
export async function floorBatch(bare: Queue, receiver: BenchReceiver, key: BenchKey, count: number): Promise<Batch> {
  await bare.pause();
  for (let start = 0; start < count; start += 500) {
    const size = Math.min(500, count - start);
    const jobs = Array.from({ length: size }, () => ({
      name: 'event',
      data: { body: unsettledRide(key).events[0]?.body },
    }));
    await bare.addBulk(jobs);
  }
  await receiver.reset();
  return {
    run: () => runJobs(bare, receiver, count, async () => true),
    check: async () => assertCount(count, (await receiver.received()).count, 'deliveries received'),
  };
}

async function runJobs(queue: Queue, receiver: BenchReceiver, count: number, isDone: () => Promise<boolean>) {
  const startedAt = Date.now();
  await queue.resume();
  // Until all requests have arrived, asks only the receiver, so that nothing else disturbs the measurement.
  const isReceived = async () => (await receiver.received()).count >= count;
  const isOver = async () => (await queue.getActiveCount()) === 0 && (await isDone());
  if (!(await becomes(isReceived, longestMs)) || !(await becomes(isOver, longestMs))) {
    throw new Error(`${queue.name}: the jobs did not end`);
  }
  const { lastMs } = await receiver.received();
  return count / ((lastMs - startedAt) / 1_000);
}
