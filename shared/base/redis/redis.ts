import { type Callback, Cluster, type ClusterOptions, Redis, type RedisOptions, SentinelConnector } from 'ioredis';
import { describeError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import { addressesOf, pingRedis, primariesOf, type RedisClient } from './redis-nodes.ts';
import { readRedisUrl } from './redis-url.ts';

const connecting = {
  connectTimeout: 2_000,
  // While Redis loads its data file, try again after 250 ms; by default ioredis may wait 10 s.
  maxLoadingRetryTime: 250,
};
const retryStrategy = (times: number): number => Math.min(times * 100, 500);

const readOnlyPauseMs = 1_000;

/**
 * After a failover this connection may still lead to the old primary, which is a replica now; a new connection finds
 * the new primary.
 */
const isReadOnly = (error: Error): boolean => error.message.includes('READONLY');

/**
 * Reconnects on READONLY, at most once a second, because after each reconnection the sweeper searches for lost jobs.
 * The caller gets the error.
 */
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
 * Opens the connection for commands: adding jobs, the rate limit, marks of slow keys. While Redis is unreachable a
 * command fails at once, and it is not repeated when its answer is lost: every caller works without Redis.
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
 * Opens the connection on which BullMQ's workers receive jobs. It waits for Redis without a time limit. A command that
 * a replica refused is sent again on the next connection, because BullMQ would pause after the error.
 */
export function connectWorkerRedis(url: string, log: Logger): RedisClient {
  return open(url, log, { ...patient, reconnectOnError: (error) => isReadOnly(error) && 2 });
}

/** Opens the connection for changes of rides. It subscribes again automatically after each reconnection. */
export function connectSubscriberRedis(url: string, log: Logger): RedisClient {
  return open(url, log, patient);
}

const patient = { enableOfflineQueue: true, retryMs: 100, maxRetriesPerRequest: null } as const;

function open(url: string, log: Logger, { enableOfflineQueue, retryMs, ...options }: Behaviour): RedisClient {
  const address = readRedisUrl(url);
  if (typeof address === 'string') throw new TypeError(`REDIS_URL is invalid (${address})`);
  const common = { ...connecting, ...options };
  if (address.kind === 'server') {
    return reported(new Redis(address.url, { ...common, enableOfflineQueue, retryStrategy }), log);
  }
  const secured = { ...common, ...address.credentials, ...(address.tls && { tls: {} }) };
  if (address.kind === 'cluster') {
    const cluster = new EndingCluster(address.nodes, {
      ...clusterOptions(retryMs),
      enableOfflineQueue,
      redisOptions: secured,
    });
    return keepConnected(reportedCluster(cluster, log));
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
    // A primary that hangs keeps its connections, so leave it when the sentinels name another one.
    failoverDetector: true,
    Connector: FollowingConnector as RedisOptions['Connector'],
    ...(tls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
  });
  return reported(redis, log);
}

/**
 * Listens for a failover only while connected. ioredis's own connector also listens while it asks the sentinels; a
 * failover then makes it give up, and the connection ends permanently.
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

/**
 * In ioredis's own class, a connection that is closed while it asks for the slots keeps asking, so the process does not
 * exit.
 */
class EndingCluster extends Cluster {
  override refreshSlotsCache(done?: Callback<void>): void {
    const isEnding = () => ['disconnecting', 'close', 'end'].includes(this.status);
    super.refreshSlotsCache((error) => {
      if (!isEnding()) done?.(error);
    });
  }
}

/**
 * Interval for reading which node serves which slots, so that a node that hangs is left when it is replaced.
 */
const refreshMs = 1_000;

const clusterOptions = (retryMs: number): ClusterOptions => ({
  clusterRetryStrategy: retryStrategy,
  // When this check finds the cluster down, ioredis connects later, but the promise of `connect()` never settles (its
  // issue 709). BullMQ renews connections during a failover, and a worker that waits for one would never receive a job
  // again.
  enableReadyCheck: false,
  slotsRefreshInterval: refreshMs,
  slotsRefreshTimeout: 1_000,
  // A certificate names the host, so the host's name must reach the TLS connection.
  dnsLookup: (host, done) => done(null, host),
  retryDelayOnFailover: retryMs,
  retryDelayOnClusterDown: retryMs,
  retryDelayOnTryAgain: retryMs || 20,
  maxRedirections: retryMs > 0 ? Number.POSITIVE_INFINITY : 4,
});

/** Resolves when the connection is ready, or after `timeoutMs`: a process also starts without Redis. */
export async function redisReady(redis: RedisClient, timeoutMs: number): Promise<void> {
  const giveUpAt = performance.now() + timeoutMs;
  await becomesReady(redis, timeoutMs);
  if (!(redis instanceof Cluster)) return;
  await Promise.all(primariesOf(redis).map((node) => becomesReady(node, giveUpAt - performance.now())));
}

function becomesReady(redis: RedisClient, timeoutMs: number): Promise<void> {
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
 * Connects to each node as soon as it is known. By default a node's first command connects it, and without an offline
 * queue every other command fails until it is connected.
 */
function keepConnected(cluster: Cluster): Cluster {
  return cluster.on('refresh', () => {
    for (const node of cluster.nodes()) if (node.status === 'wait') node.connect().catch(() => {});
  });
}

/** Logs two lines per outage, not one per reconnection attempt. */
function reported(redis: Redis, log: Logger): Redis {
  const outage = outageLog(log);
  return redis.on('error', outage.begin).on('ready', outage.end);
}

/** The same for a cluster, where a single node may be unreachable. */
function reportedCluster(cluster: Cluster, log: Logger): Cluster {
  const outage = outageLog(log);
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

function outageLog(log: Logger) {
  let away = false;
  return {
    isNow: () => away,
    begin(error: Error) {
      if (!away) log.warn({ error: describeError(error) }, 'redis is unreachable');
      away = true;
    },
    end() {
      if (away) log.info('redis is reachable again');
      away = false;
    },
  };
}
