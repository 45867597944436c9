import fs from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import mongoose from 'mongoose';
import { poolNames } from '../../../shared/base/queues.ts';
import { eraseRides } from '../../../shared/retention/erase-rides.ts';
import { RideModel, rides } from '../../../shared/rides/ride.ts';
import { AttemptModel } from '../../../shared/webhooks/attempts.ts';
import { assertCount, type Measurement } from '../bench.ts';
import { newKeys } from '../data/keys.ts';
import { creation } from '../data/requests.ts';
import { startReceiver } from '../delivery/receiver.ts';
import { usesOfEach } from '../paths/create.ts';
import { newFigure } from '../report.ts';
import type { Stack } from '../stack.ts';

const eventsOfEach = 5;
const perSecond = 25;
const batchSize = 50;
/** A million rides a month, kept for 13 months: 1 month with personal data, 12 months erased. */
const millions = { full: 1, erased: 12 };

/**
 * What a completed ride costs on MongoDB's disk before and after its erasure, in the logs and in Redis, how many
 * connections an API process and a process for each pool hold, and what that makes for a million rides a month. The
 * rides are test rides with one offer and five delivered events, ten times as fast as in real life.
 */
export const cost: Measurement = async ({ stack, say, quick }) => {
  const count = quick ? 1_000 : 10_000;
  const connectionsBefore = await connectionsOf(stack);
  const receiver = await startReceiver(stack);
  const load = await stack.startLoad();
  const env = { ...receiver.senderEnv, SIMULATION_SPEED: '10' };
  const api = await stack.startApi(env);
  await stack.startPools(env);
  const services = ['api', ...poolNames];
  const [redisBefore, logsBefore] = [await stack.redisBytes(), await stack.logBytes(services)];

  say(`cost: ${count} rides, ${perSecond} a second`);
  const requests = (await newKeys(Math.ceil(count / usesOfEach), 'test', receiver.url)).map((key) => creation(key));
  const phases = [{ perSecond, seconds: count / perSecond }];
  const loaded = load.open(api, { connections: 16, requests, phases });
  let redisMost = 0;
  const isOver = { status: 'completed', unsettled: 0 } as const;
  for (let over = 0; over < count; over = await rides.countDocuments(isOver)) {
    await setTimeout(1_000);
    redisMost = Math.max(redisMost, await stack.redisBytes());
  }
  const [result] = await loaded;
  assertCount(count, result?.statuses[201] ?? 0, 'creations answered 201');
  const connections = await connectionsOf(stack);
  // The log is written every 100 ms.
  await setTimeout(500);
  const logs = (await stack.logBytes(services)) - logsBefore;
  await stack.stopPrograms();

  say('cost: sizes before and after the erasure');
  assertCount(count * eventsOfEach, await AttemptModel.countDocuments({}), 'attempts');
  const full = await sizesPerRide(count);
  const ids = (await rides.find({}, { projection: { _id: 1 } }).toArray()).map(({ _id }) => _id);
  for (let start = 0; start < ids.length; start += batchSize) {
    assertCount(
      Math.min(batchSize, ids.length - start),
      await eraseRides(ids.slice(start, start + batchSize)),
      'erased',
    );
  }
  const erased = await sizesPerRide(count);
  const disk = millions.full * full.disk + millions.erased * erased.disk;
  const figure = newFigure('cost');
  return [
    figure('a ride with its attempts, on disk with indexes', 'kB', full.disk / 1_000),
    figure('of that indexes', 'kB', full.indexes / 1_000),
    figure('an erased ride with its attempts, on disk with indexes', 'kB', erased.disk / 1_000),
    figure('of that indexes', 'kB', erased.indexes / 1_000),
    figure('an erased ride as BSON', 'kB', erased.ride / 1_000, '<= 2'),
    figure('disk of a million rides a month, after 13 months', 'GB', disk / 1_000),
    figure('logs of a ride', 'kB', logs / count / 1_000),
    figure('logs of a million rides a month', 'GB', logs / count / 1_000),
    figure(`memory of Redis at ${perSecond} rides a second, most`, 'MB', (redisMost - redisBefore) / 1_000_000),
    figure(
      'connections to MongoDB, API and one process for each pool',
      '',
      connections.mongo - connectionsBefore.mongo,
    ),
    figure('connections to Redis, API and one process for each pool', '', connections.redis - connectionsBefore.redis),
  ];
};

/** The connections that the servers have accepted, by the system's tables: MongoDB at a socket, Redis at a port. */
async function connectionsOf({ mongo, redis }: Stack): Promise<{ mongo: number; redis: number }> {
  const socket = await fs.realpath(decodeURIComponent(/\/\/([^/]+)/.exec(mongo.url)?.[1] ?? ''));
  const connected = '03';
  const sockets = (await fs.readFile('/proc/net/unix', 'utf8')).split('\n').map((line) => line.trim().split(/\s+/));
  return {
    mongo: sockets.filter(([, , , , , state, , path]) => path === socket && state === connected).length,
    redis: Number(/connected_clients:(\d+)/.exec(await redis.info('clients'))?.[1]),
  };
}

const db = (): mongoose.mongo.Db => mongoose.connection.db as mongoose.mongo.Db;

/** The bytes for each ride, of new copies of the collections: MongoDB does not return space that updates free. */
async function sizesPerRide(count: number): Promise<{ disk: number; indexes: number; ride: number }> {
  const sizes = { disk: 0, indexes: 0, ride: 0 };
  for (const model of [RideModel, AttemptModel]) {
    const copy = db().collection(`cost_${model.collection.name}`);
    await copy.drop().catch(() => {});
    await model.collection.aggregate([{ $out: copy.collectionName }]).toArray();
    for (const [fields, options] of model.schema.indexes()) {
      const { name, unique, sparse, partialFilterExpression } = options as mongoose.mongo.CreateIndexesOptions;
      await copy.createIndex(fields as mongoose.mongo.IndexSpecification, {
        ...(name && { name }),
        ...(unique && { unique }),
        ...(sparse && { sparse }),
        ...(partialFilterExpression && { partialFilterExpression }),
      });
    }
    await db().admin().command({ fsync: 1 });
    const stats = await db().command({ collStats: copy.collectionName });
    sizes.disk += (stats.storageSize + stats.totalIndexSize) / count;
    sizes.indexes += stats.totalIndexSize / count;
    if (model === (RideModel as unknown)) sizes.ride = stats.size / count;
    await copy.drop();
  }
  return sizes;
}
