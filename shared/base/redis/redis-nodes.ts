import { Cluster, type Redis } from 'ioredis';

/** A connection to one server (directly or through Sentinel), or connections to the nodes of a cluster. */
export type RedisClient = Redis | Cluster;

/** True for a cluster, where one part of the data can be unavailable while another answers. */
export const isCluster = (redis: RedisClient): redis is Cluster => redis instanceof Cluster;

/** The connected servers that hold data: the only server, or each primary of a cluster. */
export const primariesOf = (redis: RedisClient): Redis[] =>
  redis instanceof Cluster ? redis.nodes('master') : [redis];

/** Rejects unless every part of Redis answers. In a cluster, that is each node that owns slots. */
export async function pingRedis(redis: RedisClient): Promise<void> {
  if (redis instanceof Cluster) assertConnected(redis);
  await Promise.all(primariesOf(redis).map((primary) => primary.ping()));
}

/**
 * Throws if a node that owns slots is not connected. Checks the slots, because a lost node disappears from the list of
 * nodes at once, but keeps its slots until its replica replaces it.
 */
export function assertConnected(cluster: Cluster): void {
  const owners = new Set(cluster.slots.flatMap(([owner]) => owner ?? []));
  const connected = new Set(addressesOf(cluster));
  const away = [...owners].filter((owner) => !connected.has(owner));
  if (owners.size === 0 || away.length > 0) throw new Error('a primary of the cluster is not connected');
}

/**
 * Calls the listener whenever Redis may have lost jobs: it is connected again, or a node of a cluster is connected
 * again or was replaced. Returns a function that unsubscribes it.
 */
export function onRedisReturned(redis: RedisClient, listener: () => void): () => void {
  redis.on('ready', listener);
  if (!(redis instanceof Cluster)) return () => redis.off('ready', listener);
  let before = addressesOf(redis);
  const known = new Set(before);
  const noteChange = () => {
    const primaries = addressesOf(redis);
    if (primaries.join() !== before.join()) listener();
    for (const address of primaries) known.add(address);
    before = primaries;
  };
  const noteReturn = (node: Redis) => {
    if (known.has(addressOf(node))) node.once('ready', listener);
  };
  redis.on('refresh', noteChange);
  redis.on('+node', noteReturn);
  return () => {
    redis.off('ready', listener).off('refresh', noteChange).off('+node', noteReturn);
  };
}

/** `HOST:PORT` of each connected primary of a cluster, sorted. */
export const addressesOf = (cluster: Cluster): string[] => primariesOf(cluster).map(addressOf).sort();
const addressOf = ({ options }: Redis): string => `${options.host}:${options.port}`;
