import { setTimeout } from 'node:timers/promises';
import mongoose from 'mongoose';
import { assertAll, assertCount, type Measurement } from '../bench.ts';
import { newKeys } from '../data/keys.ts';
import { biddingRide, insertRides } from '../data/rides.ts';
import type { LoadResult } from '../load/load.ts';
import type { Receipt } from '../load/receiver.ts';
import { percentile } from '../statistics.ts';
import { startReceiver } from './receiver.ts';

const perSecond = 20;

/**
 * Measures the time from an event's `at`, which is just before its commit, to its first byte at the receiver. On an
 * idle machine, partners cancel one ride after the other. The floor is one journaled write, at the same rate.
 */
export const firstByte: Measurement = async (bench) => {
  const { stack } = bench;
  const seconds = bench.quick ? 5 : 15;
  const receiver = await startReceiver(stack);
  const load = await stack.startLoad();
  const api = await stack.startApi(receiver.senderEnv);
  await stack.start('webhooks', 'workers/main', { args: ['webhooks'], env: receiver.senderEnv });
  const keys = await newKeys(100, 'live', receiver.url);

  const cancelAll = async (count: number): Promise<number[]> => {
    const owned = Array.from({ length: count }, (_, index) => keys[index % keys.length] ?? (keys[0] as never));
    const made = owned.map((key) => ({ key, ride: biddingRide(key) }));
    await insertRides(made.map(({ ride }) => ride));
    await receiver.reset(true);
    const requests = made.map(
      ({ key, ride }) =>
        `POST /v1/rides/${ride._id}/cancel HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key.key}\r\n` +
        'Content-Length: 0\r\n\r\n',
    );
    const phases = [{ perSecond, seconds: count / perSecond }];
    const [result] = await load.open(api, { connections: 2, requests, phases });
    assertAll(200, result as LoadResult, 'cancel');
    await setTimeout(500);
    const receipts = await receiver.ask<Receipt[]>('receipts');
    assertCount(count, receipts.length, 'cancel: deliveries received');
    return receipts.map(({ atMs, text }) => atMs - JSON.parse(text.slice(text.indexOf('\r\n\r\n'))).at);
  };
  bench.say('first byte: warm-up');
  await cancelAll(perSecond * 3);
  await journaledWrites(perSecond * 3);
  const rounds: number[][] = [];
  const writes: number[][] = [];
  for (let round = 1; round <= (bench.quick ? 1 : 2); round++) {
    bench.say(`first byte: round ${round}`);
    rounds.push(await cancelAll(perSecond * seconds));
    writes.push(await journaledWrites(perSecond * seconds));
  }
  const at = (p: number) => rounds.map((delays) => percentile(delays, p));
  const floor = writes.map((times) => percentile(times, 0.5));
  const name = 'event to first byte at the receiver';
  return [
    { name: `${name}, p50 (floor: one journaled write)`, unit: 'ms', service: at(0.5), floor, goal: '<= 2' },
    { name: `${name}, p99`, unit: 'ms', service: at(0.99), goal: '<= 50' },
  ];
};

/** The times in ms of journaled inserts of one small document each. */
async function journaledWrites(count: number): Promise<number[]> {
  const collection = mongoose.connection.collection('bench_writes');
  const times: number[] = [];
  for (let written = 0; written < count; written++) {
    await setTimeout(1_000 / perSecond);
    const startedAt = performance.now();
    await collection.insertOne({ at: new Date() }, { writeConcern: { w: 'majority', j: true } });
    times.push(performance.now() - startedAt);
  }
  return times;
}
