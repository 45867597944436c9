import type { Redis } from 'ioredis';
import mongoose from 'mongoose';
import type { SecretsKeys } from '../../../base/encryption.ts';
import { ConfigError } from '../../../base/errors.ts';
import { createLogger } from '../../../base/logger.ts';
import { mongoNow } from '../../../base/mongo/clock.ts';
import { addressProblem, connectMongo, database, disconnectMongo } from '../../../base/mongo/connect-mongo.ts';
import { connectRedis, redisReady } from '../../../base/redis/redis.ts';
import { primariesOf } from '../../../base/redis/redis-nodes.ts';
import { readRedisState } from '../../../base/redis/redis-state.ts';
import { type RedisProblemName, redisProblemTexts } from '../../../base/redis-problem.ts';
import { assertSecretsKeys } from '../../../keys/secrets-check.ts';
import { missingIndexes } from '../../migrate-database.ts';
import { redisSettings } from '../start-warnings.ts';
import { type Finding, finding, type Outcome, ok, red, skipped, stepLimitMs } from './findings.ts';

const maxClockMs = 5_000;
const setClocks = 'Synchronise the clocks of all hosts, for example with chrony.';

/** The difference of another clock, read by `read`, from the clock of this host. */
async function checkClock(read: () => Promise<number>): Promise<Outcome> {
  const before = Date.now();
  const other = await read();
  const after = Date.now();
  const apartMs = Math.max(0, before - other, other - after);
  const found = `${(apartMs / 1_000).toFixed(1)} s apart`;
  return apartMs > maxClockMs ? red(found, setClocks) : ok(found);
}

/** Checks MongoDB, its indexes, its clock, its replica set, and whether these keys decrypt its secrets. Disconnects afterwards. */
export async function checkMongo(url: string, secretsKeys: SecretsKeys): Promise<Finding[]> {
  const names = ['MongoDB', 'indexes', "MongoDB's clock", 'replica set', 'SECRETS_KEY'] as const;
  if (!url) return names.map((check) => ({ check, ...skipped('MONGO_URL is not valid') }));
  const start = 'Start MongoDB, or correct MONGO_URL (docs/operations.md, Losing MongoDB).';
  let connecting: Promise<unknown> | undefined;
  const server = await finding(names[0], start, () => {
    const connected = connect(url, start);
    connecting = connected;
    return connected;
  });
  if (server.state !== 'ok') {
    // A connection that opens too late would keep the process alive.
    void connecting?.finally(disconnectMongo);
    return [server, ...names.slice(1).map((check) => ({ check, ...skipped('MongoDB does not answer') }))];
  }
  try {
    return [
      server,
      ...(await Promise.all([
        finding(names[1], 'Run migrate.', async () => {
          const missing = await missingIndexes();
          return missing.length > 0 ? red(`MongoDB lacks ${missing.join('; ')}`, 'Run migrate.') : ok('all exist');
        }),
        finding(names[2], setClocks, () => checkClock(async () => (await mongoNow()).getTime())),
        finding(names[3], 'Look at rs.status() in mongosh.', checkReplicaSet),
        finding(names[4], useKey, () => checkSecretsKey(secretsKeys)),
      ])),
    ];
  } finally {
    await disconnectMongo();
  }
}

async function connect(url: string, todo: string): Promise<Outcome> {
  // First with a short time limit: connectMongo waits longer.
  const client = new mongoose.mongo.MongoClient(url, {
    serverSelectionTimeoutMS: stepLimitMs,
    connectTimeoutMS: stepLimitMs,
    socketTimeoutMS: stepLimitMs,
  });
  try {
    const { version } = await client.db('admin').command({ buildInfo: 1 });
    await connectMongo(url);
    return ok(`version ${version}`);
  } catch (error) {
    return red(`MONGO_URL${addressProblem(error)}`, todo);
  } finally {
    await client.close();
  }
}

const useKey = 'Use the SECRETS_KEY with which the secrets were encrypted (docs/operations.md, Rotating SECRETS_KEY).';

async function checkSecretsKey(secretsKeys: SecretsKeys): Promise<Outcome> {
  if (secretsKeys.length === 0) return skipped('not set for this command');
  try {
    await assertSecretsKeys(secretsKeys);
    return ok('decrypts the stored secrets');
  } catch (error) {
    if (error instanceof ConfigError) return red(error.message, useKey);
    throw error;
  }
}

const healthyStates: readonly string[] = ['PRIMARY', 'SECONDARY', 'ARBITER'];

async function checkReplicaSet(): Promise<Outcome> {
  const hello = await database().admin().command({ hello: 1 });
  if (hello.msg === 'isdbgrid') return ok('behind a mongos');
  if (!hello.setName) return skipped('one server without a replica set: no other server replaces it');
  try {
    const { members } = (await database().admin().command({ replSetGetStatus: 1 })) as {
      members: { name: string; stateStr: string }[];
    };
    const away = members.filter(({ stateStr }) => !healthyStates.includes(stateStr));
    const list = away.map(({ name, stateStr }) => `${name} is ${stateStr}`).join(', ');
    return away.length > 0 ? red(list, 'Repair these members.') : ok(`${members.length} members`);
  } catch {
    // The user may not read the status of the replica set.
    return ok(`${hello.setName}, ${(hello.hosts as unknown[])?.length ?? 0} members`);
  }
}

const startRedis = 'Start Redis, or correct REDIS_URL (docs/operations.md, Losing Redis).';
const redisTodos: Partial<Record<RedisProblemName, string>> = {
  redis_full: 'Find the long queue with ops queues, and raise maxmemory in Redis.',
  redis_password: 'Correct the user and password in REDIS_URL, and restart the processes.',
  redis_loading: 'Wait until Redis has loaded its data.',
  redis_disk: "Free space on Redis's disk.",
};

/** Checks whether Redis accepts jobs, its clock, its persistence and its eviction policy. */
export async function checkRedis(url: string): Promise<Finding[]> {
  const names = ['Redis', "Redis's clock", 'Redis persistence', 'Redis eviction'] as const;
  if (!url) return names.map((check) => ({ check, ...skipped('REDIS_URL is not valid') }));
  const redis = connectRedis(url, createLogger('silent', 'doctor'));
  let problem: RedisProblemName | undefined;
  try {
    const server = await finding(names[0], startRedis, async () => {
      await redisReady(redis, stepLimitMs);
      ({ problem } = await readRedisState(redis));
      if (problem) return red(redisProblemTexts[problem], redisTodos[problem] ?? startRedis);
      const versions = await Promise.all(primariesOf(redis).map(versionOf));
      return ok(`version ${[...new Set(versions)].join(', ')}`);
    });
    if (server.state !== 'ok' && problem !== 'redis_full' && problem !== 'redis_disk') {
      return [server, ...names.slice(1).map((check) => ({ check, ...skipped('Redis answers no commands') }))];
    }
    const settings = () => Promise.all(primariesOf(redis).map(redisSettings));
    const [persist, evict] = ['Set appendonly yes in Redis.', 'Set maxmemory-policy noeviction in Redis.'];
    return [
      server,
      ...(await Promise.all([
        finding(names[1], setClocks, () =>
          checkClock(async () => {
            const [[seconds, micros] = [0, 0]] = await Promise.all(primariesOf(redis).map((primary) => primary.time()));
            return Number(seconds) * 1_000 + Number(micros) / 1_000;
          }),
        ),
        finding(names[2], persist, async () =>
          (await settings()).every(({ isPersistent }) => isPersistent)
            ? ok('append-only file')
            : red('no append-only file: a restart loses the jobs until the sweeper adds them', persist),
        ),
        finding(names[3], evict, async () =>
          (await settings()).some(({ evicts }) => evicts) ? red('Redis may evict jobs', evict) : ok('noeviction'),
        ),
      ])),
    ];
  } finally {
    redis.disconnect();
  }
}

const versionOf = async (redis: Redis): Promise<string> =>
  /^redis_version:(\S+)/m.exec(await redis.info('server'))?.[1] ?? 'unknown';
