import fs from 'node:fs/promises';
import path from 'node:path';
import { Redis } from 'ioredis';
import { startMongo } from '../../../dev/servers/mongo.ts';
import { startRedis } from '../../../dev/servers/redis-server.ts';

export const redisPassword = 'a1b2c3d4e5f6';

/** MongoDB and Redis of a host, which procedures stop and start. */
export type Servers = Awaited<ReturnType<typeof startServers>>;

export interface Server {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the embedded MongoDB engine, which has no users, and a Redis with a password. */
export async function startServers(folder: string) {
  const mongoData = path.join(folder, 'mongo');
  const redisData = path.join(folder, 'redis');
  let mongo = await startMongo({ dataDir: mongoData });
  let isMongoStopped = false;
  let redis = await startRedis({ dataDir: redisData, appendonly: true });
  const redisPort = Number(new URL(redis.url).port);
  await setPassword(redis.url);
  return {
    // A second parameter, because `&` has a meaning in shells.
    mongoUrl: `${mongo.url}&appName=rides`,
    redisPort,
    mongo: {
      async start() {
        mongo = await startMongo({ dataDir: mongoData });
        isMongoStopped = false;
      },
      async stop() {
        if (!isMongoStopped) await mongo.stop();
        isMongoStopped = true;
      },
    },
    /** A start without the data of the run before. */
    redis: {
      async start() {
        redis = await startRedis({ dataDir: redisData, appendonly: true, port: redisPort });
        await setPassword(redis.url);
      },
      async stop() {
        process.kill(redis.pid, 'SIGKILL');
        await redis.exited;
        await fs.rm(redisData, { recursive: true });
      },
    },
    killMongo: () => void process.kill(mongo.pid, 'SIGKILL'),
  };
}

async function setPassword(url: string): Promise<void> {
  const client = new Redis(url);
  client.on('error', () => {});
  await client.config('SET', 'requirepass', redisPassword);
  client.disconnect();
}
