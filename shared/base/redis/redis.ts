import { type Callback, Cluster, type ClusterOptions, Redis, type RedisOptions, SentinelConnector } from 'ioredis';
import { describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { type RedisProblemName, redisProblemOf, redisProblemTexts } from '../redis-problem.ts';
import { addressesOf, pingRedis, primariesOf, type RedisClient } from './redis-nodes.ts';
import { noteConnection } from './redis-state.ts';
import { readRedisUrl } from './redis-url.ts';

const connecting = {
  connectTimeout: 2_000,
  // How long an ended connection may stay open. ioredis waits this long even if it was closed before, and so does the
  // end of a command.
  disconnectTimeout: 100,
  // Tries again after 250 ms while Redis loads its data file; by default ioredis may wait 10 s.
  maxLoadingRetryTime: 250,
};
const retryStrategy = (times: number): number => Math.min(times * 100, 500);

const readOnlyPauseMs = 1_000;

/** True if a replica refused the command: after a failover, only a new connection finds the new primary. */
const isReadOnly = (error: Error): boolean => error.message.includes('READONLY');

/** Reconnects on READONLY, at most once a second: after each, the sweeper searches for lost jobs. */
function reconnectFromReplica(): (error: Error) => boolean {
  let reconnectedAt = Number.NEGATIVE_INFINITY;
  return (error) => {
    if (!isReadOnly(error) || performance.now() - reconnectedAt < readOnlyPauseMs) return false;
    reconnectedAt = performance.now();
    return true;
  };
}

/** In a cluster, a failed command is repeated every `retryMs` until it succeeds; with 0 it fails at once. */
interface Behaviour extends Omit<RedisOptions, 'replyMapping'> {
  enableOfflineQueue: boolean;
  retryMs: number;
}

/**
 * Opens the connection for commands: adding jobs, the rate limit, marks of slow keys. While Redis is unreachable, a
 * command fails at once. A command whose answer is lost is not repeated. Every caller works without Redis.
 */
export function connectRedis(url: string, log: Logger): RedisClient {
  return open(url, log, {
    enableOfflineQueue: false,
    retryMs: 0,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 1_000,
    reconnectOnError: reconnectFromReplica(),
  });
}

/**
 * Opens the connection on which BullMQ's workers receive jobs. Waits for Redis without a time limit. If a replica
 * refuses a command, sends the command again on the next connection, because BullMQ would pause after an error.
 */
export function connectWorkerRedis(url: string, log: Logger): RedisClient {
  return open(url, log, { ...retryingOptions, reconnectOnError: (error) => isReadOnly(error) && 2 });
}

/** Opens the connection for changes of rides. It subscribes again automatically after each reconnection. */
export function connectSubscriberRedis(url: string, log: Logger): RedisClient {
  return open(url, log, retryingOptions);
}

const retryingOptions = { enableOfflineQueue: true, retryMs: 100, maxRetriesPerRequest: null } as const;

function open(url: string, log: Logger, { enableOfflineQueue, retryMs, ...options }: Behaviour): RedisClient {
  const address = readRedisUrl(url);
  if (typeof address === 'string') throw new TypeError(`REDIS_URL is invalid (${address})`);
  const common = { ...connecting, ...options };
  if (address.kind === 'server') {
    return withOutageLog(joinWrites(new Redis(address.url, { ...common, enableOfflineQueue, retryStrategy })), log);
  }
  const secured = { ...common, ...address.credentials, ...(address.tls && { tls: {} }) };
  if (address.kind === 'cluster') {
    const cluster = new EndingCluster(address.nodes, {
      ...clusterOptions(retryMs),
      enableOfflineQueue,
      redisOptions: secured,
    });
    cluster.on('+node', joinWrites);
    return keepConnected(withClusterOutageLog(cluster, log));
  }
  const { sentinels, name, db, sentinelPassword, tls } = address;
  const redis = new Redis({
    ...secured,
    enableOfflineQueue,
    retryStrategy,
    sentinels,
    name,
    db,
    sentinelPassword,
    sentinelRetryStrategy: retryStrategy,
    sentinelReconnectStrategy: retryStrategy,
    sentinelCommandTimeout: 1_000,
    // Leaves a primary when the sentinels name another one, because a primary that hangs keeps its connections.
    failoverDetector: true,
    Connector: FollowingConnector as RedisOptions['Connector'],
    ...(tls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
  });
  return withOutageLog(joinWrites(redis), log);
}

/**
 * Makes a client write the commands of one turn of the event loop together. A system call for each command costs
 * this process and Redis more. ioredis's own automatic pipelines saved no CPU of ours (test/bench/README.md).
 */
function joinWrites(redis: Redis): Redis {
  return redis.on('connect', () => {
    const { stream } = redis;
    const write = stream.write as (...args: unknown[]) => boolean;
    stream.write = (...args: unknown[]) => {
      if (stream.writableCorked === 0) {
        stream.cork();
        process.nextTick(() => stream.uncork());
      }
      return write.apply(stream, args);
    };
  });
}

/**
 * Listens for a failover only while connected. ioredis's own connector also listens while it asks the sentinels. If a
 * failover happens then, it gives up, and the connection ends permanently.
 */
class FollowingConnector extends SentinelConnector {
  constructor(options: ConstructorParameters<typeof SentinelConnector>[0]) {
    super(options);
    const own = this as unknown as { connectToSentinel(...args: unknown[]): Redis };
    const connectToSentinel = own.connectToSentinel.bind(this);
    // Without a listener, ioredis prints each failure to reach a sentinel with its stack, twice a second.
    own.connectToSentinel = (...args) => connectToSentinel(...args).on('error', () => {});
  }

  override connect(...args: Parameters<SentinelConnector['connect']>): ReturnType<SentinelConnector['connect']> {
    this.disconnect();
    return super.connect(...args);
  }
}

/** Lets the process exit. ioredis's own class keeps asking for the slots if it is closed while it asks. */
class EndingCluster extends Cluster {
  override refreshSlotsCache(done?: Callback<void>): void {
    const isEnding = () => ['disconnecting', 'close', 'end'].includes(this.status);
    super.refreshSlotsCache((error) => {
      if (!isEnding()) done?.(error);
    });
  }
}

/** The interval of reading the slots of each node: a hanging node that was replaced is not used for longer. */
const refreshMs = 1_000;

const clusterOptions = (retryMs: number): ClusterOptions => ({
  clusterRetryStrategy: retryStrategy,
  // If the check finds the cluster down, ioredis connects later, but the promise of `connect()` never settles (ioredis
  // issue 709). BullMQ renews connections during a failover, and a worker that waits for such a promise would never
  // receive a job again.
  enableReadyCheck: false,
  slotsRefreshInterval: refreshMs,
  slotsRefreshTimeout: 1_000,
  // Passes the name of the host to the TLS connection, because the certificate contains the name.
  dnsLookup: (host, done) => done(null, host),
  retryDelayOnFailover: retryMs,
  retryDelayOnClusterDown: retryMs,
  retryDelayOnTryAgain: retryMs || 20,
  maxRedirections: retryMs > 0 ? Number.POSITIVE_INFINITY : 4,
});

/** Resolves when the connection is ready, or after `timeoutMs`, because a process can also start without Redis. */
export async function redisReady(redis: RedisClient, timeoutMs: number): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs;
  await waitUntilReady(redis, timeoutMs);
  if (!(redis instanceof Cluster)) return;
  await Promise.all(primariesOf(redis).map((node) => waitUntilReady(node, giveUpAt - performance.now())));
}

function waitUntilReady(redis: RedisClient, timeoutMs: number): Promise<void> {
  if (redis.status === 'ready') return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      redis.off('ready', done);
      resolve();
    };
    const timer = setTimeout(done, timeoutMs);
    redis.once('ready', done);
  });
}

/**
 * Connects to each node as soon as it is known. By default, ioredis connects a node at its first command, and without
 * an offline queue further commands fail until the node is connected.
 */
function keepConnected(cluster: Cluster): Cluster {
  return cluster.on('refresh', () => {
    for (const node of cluster.nodes()) if (node.status === 'wait') node.connect().catch(() => {});
  });
}

/** Logs two lines per outage, and one more whenever the reason changes, for example to a wrong password. */
function withOutageLog(redis: Redis, log: Logger): Redis {
  const outage = outageLog(redis, log);
  return redis.on('error', outage.begin).on('ready', outage.end);
}

/** Logs the same lines per outage of a cluster, also if only one node is unreachable. */
function withClusterOutageLog(cluster: Cluster, log: Logger): Cluster {
  const outage = outageLog(cluster, log);
  let isAsking = false;
  cluster.on('error', outage.begin);
  cluster.on('node error', (error: Error, address: string) => {
    if (addressesOf(cluster).includes(address)) outage.begin(error);
  });
  return cluster.on('refresh', async () => {
    if (isAsking || !outage.isNow()) return;
    isAsking = true;
    await pingRedis(cluster).then(outage.end, () => {});
    isAsking = false;
  });
}

function outageLog(redis: RedisClient, log: Logger) {
  let current: RedisProblemName | undefined;
  return {
    isNow: () => current !== undefined,
    begin(error: Error) {
      const problem = redisProblemOf(error) ?? 'redis_away';
      noteConnection(redis, error);
      if (problem === current) return;
      current = problem;
      const text = problem === 'redis_away' ? 'redis is unreachable' : redisProblemTexts[problem];
      log.warn({ reason: problem, error: describeError(error) }, text);
    },
    end() {
      noteConnection(redis);
      if (current) log.info('redis is reachable again');
      current = undefined;
    },
  };
}
