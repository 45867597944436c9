import type { Context } from './context.ts';
import type { RedisClient } from './redis/redis-nodes.ts';

const channel = 'rides:changed';
/** New rides have their own channel, because only the desks' boards wait for them. */
const channelOfNew = 'rides:created';
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

/** Notifies every process of a new ride of this key. Does not wait and never fails, like `publishRideChange`. */
export function publishNewRide({ redis }: Pick<Context, 'redis'>, { keyId }: { keyId: string }): void {
  if (redis.status === 'ready') redis.publish(channelOfNew, keyId).catch(() => {});
}

type Listener = (rideId: string, driverIds: readonly string[], keyId: string) => void;

export interface Wake {
  /** Calls the listener for each change of a ride, with the affected drivers. The returned function unsubscribes it. */
  onRideChange(listener: Listener): () => void;
  /** Calls the listener for each new ride of a key and for each change of one, with the key. */
  onNewsOfKey(listener: (keyId: string) => void): () => void;
  close(): void;
}

/** Subscribes to new rides and to changes of rides, on a connection of its own (`connectSubscriberRedis`). */
export function subscribeToRideChanges(subscriber: RedisClient): Wake {
  const listeners = new Set<Listener>();
  const listenersOfKeys = new Set<(keyId: string) => void>();
  let isClosed = false;
  // Retries the first subscription, which may find no node in a cluster. ioredis repeats only a subscription that has
  // succeeded before.
  const subscribe = () =>
    subscriber.subscribe(channel, channelOfNew).catch(() => {
      if (!isClosed) setTimeout(subscribe, resubscribeMs).unref();
    });
  void subscribe();
  subscriber.on('message', (from, message) => {
    if (from === channelOfNew) {
      for (const listener of listenersOfKeys) listener(message);
      return;
    }
    const [rideId = '', keyId = '', ...driverIds] = message.split(' ');
    for (const listener of listeners) listener(rideId, driverIds, keyId);
    for (const listener of listenersOfKeys) listener(keyId);
  });
  return {
    onRideChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onNewsOfKey(listener) {
      listenersOfKeys.add(listener);
      return () => listenersOfKeys.delete(listener);
    },
    close() {
      isClosed = true;
      subscriber.disconnect();
    },
  };
}
