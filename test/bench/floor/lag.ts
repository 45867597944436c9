import { Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { answer } from '../measured/ipc.ts';

/** The floor of a timer: a bare BullMQ worker that notes how late each delayed job starts. */
let lags: number[] = [];

const worker = new Worker(
  'bare',
  async ({ data }) => {
    lags.push(Date.now() - data.dueMs);
  },
  {
    connection: new Redis(process.env.REDIS_URL ?? '', { maxRetriesPerRequest: null }),
    concurrency: 100,
    removeOnComplete: { count: 1_000 },
  },
);
worker.on('error', console.error);
await worker.waitUntilReady();

/** Resolves with the lags in ms since the last question. */
answer('lags', () => {
  const noted = lags;
  lags = [];
  return noted;
});
process.send?.('ready');
