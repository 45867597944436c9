import type { Context } from './context.ts';
import { connectSubscriberRedis } from './redis/redis.ts';
import type { RedisClient } from './redis/redis-nodes.ts';

const channel = 'rides:changed';
const resubscribeMs = 1_000;

/**
 * Notifies every process that a ride has changed, with the affected driver ids. Does not wait and never fails. A lost
 * notification is harmless, because everything that waits for a change also polls every 2 s.
 */
export function publishRideChange(
  { redis }: Pick<Context, 'redis'>,
  { _id, keyId }: { _id: string; keyId: string },
  driverIds: readonly string[] = [],
): void {
  if (redis.status === 'ready') redis.publish(channel, [_id, keyId, ...driverIds].join(' ')).catch(() => {});
}

type Listener = (rideId: string, driverIds: readonly string[], keyId: string) => void;

export interface Wake {
  /**
   * Calls the listener for each change of a ride, with the affected driver ids and the ride's key. Returns a function
   * that unsubscribes it.
   */
  onRideChange(listener: Listener): () => void;
  close(): void;
}

/** Opens a connection that subscribes to changes of rides. */
export function subscribeToRideChanges({ config, log }: Pick<Context, 'config' | 'log'>): Wake {
  const listeners = new Set<Listener>();
  const subscriber: RedisClient = connectSubscriberRedis(config.secrets.redisUrl, log);
  let isClosed = false;
  // Retries the first subscription, which may find no node in a cluster. ioredis repeats only a subscription that has
  // succeeded before.
  const subscribe = () =>
    subscriber.subscribe(channel).catch(() => {
      if (!isClosed) setTimeout(subscribe, resubscribeMs).unref();
    });
  void subscribe();
  subscriber.on('message', (_channel, message) => {
    const [rideId = '', keyId = '', ...driverIds] = message.split(' ');
    for (const listener of listeners) listener(rideId, driverIds, keyId);
  });
  return {
    onRideChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close() {
      isClosed = true;
      subscriber.disconnect();
    },
  };
}
