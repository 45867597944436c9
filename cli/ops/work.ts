import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { PoolName } from '../../shared/base/queues.ts';
import { redisReady } from '../../shared/base/redis/redis.ts';
import { readRedisState } from '../../shared/base/redis/redis-state.ts';
import { redisProblemTexts } from '../../shared/base/redis-problem.ts';
import { suspendDriver } from '../../shared/drivers/manage-drivers.ts';
import { findKey, resumeKey, suspendKey } from '../../shared/keys/manage-keys.ts';
import { resumeAccount, suspendAccount } from '../../shared/keys/suspend-account.ts';
import { resumeDriver } from '../../shared/rides/driver/settle-driver.ts';
import { redeliverFailed } from '../../shared/webhooks/redeliver.ts';
import { maxResends, type TimeRange, type UndeliveredCount } from '../../shared/webhooks/undelivered.ts';
import { type AuditFields, recordAudit } from '../operator.ts';

export async function setPaused(
  ctx: Context,
  { pool, by }: { pool: PoolName; by: string },
  paused: boolean,
): Promise<{ pool: PoolName; paused: boolean }> {
  await assertRedis(ctx);
  const queue = ctx.queues[pool];
  await (paused ? queue.pause() : queue.resume());
  await recordAudit(ctx.now(), by, { action: paused ? 'pool_paused' : 'pool_resumed', about: pool });
  return { pool, paused };
}

export const kinds = ['account', 'key', 'driver'] as const;

export interface Suspendable {
  kind: (typeof kinds)[number];
  id: string;
}

export async function setSuspended(
  ctx: Context,
  { kind, id, by }: Suspendable & { by: string },
  suspended: boolean,
): Promise<object> {
  await waitForRedis(ctx);
  const answer = await suspensions[kind](id, suspended, (entry) => recordAudit(ctx.now(), by, entry));
  return { ...answer, suspended };
}

type Suspension = (id: string, suspended: boolean, note: (entry: AuditFields) => Promise<void>) => Promise<object>;

const suspensions: Record<Suspendable['kind'], Suspension> = {
  async account(accountId, suspended, note) {
    const activeKeys = await (suspended ? suspendAccount(accountId) : resumeAccount(accountId));
    await note({ action: suspended ? 'account_suspended' : 'account_resumed', accountId });
    return { accountId, activeKeys };
  },
  async key(keyId, suspended, note) {
    await (suspended ? suspendKey(keyId) : resumeKey(keyId));
    const { accountId } = await findKey(keyId, 'anyone');
    await note({ action: suspended ? 'key_suspended' : 'key_resumed', accountId, keyId });
    return { keyId };
  },
  async driver(driverId, suspended, note) {
    await (suspended ? suspendDriver(driverId) : resumeDriver(driverId));
    await note({ action: suspended ? 'driver_suspended' : 'driver_resumed', about: driverId });
    return { driverId };
  },
};

/** Resends the events that failed in a period, key by key. Resolves with the number of resent events. */
export async function resendAll(
  ctx: Context,
  keys: readonly UndeliveredCount[],
  stretch: TimeRange,
  by: string,
): Promise<number> {
  await waitForRedis(ctx);
  let sent = 0;
  for (const { keyId, accountId } of keys) {
    const sentOfKey = await resendOfKey(ctx, keyId, stretch, accountId);
    sent += sentOfKey;
    if (sentOfKey > 0) await recordAudit(ctx.now(), by, { action: 'events_resent', accountId, keyId });
  }
  return sent;
}

/**
 * `redeliverFailed` resends at most 500 events, so it is called until none is left. It skips events that are pending or
 * delivered.
 */
async function resendOfKey(ctx: Context, keyId: string, stretch: TimeRange, accountId: string): Promise<number> {
  for (let sent = 0; ; ) {
    const batch = await redeliverFailed(ctx, keyId, stretch, { accountId });
    sent += batch;
    if (batch < maxResends) return sent;
  }
}

/** Waits for Redis, at most 2 s: the sweeper adds the jobs of a command that continues without Redis. */
export const waitForRedis = ({ redis }: Context): Promise<void> => redisReady(redis, 2_000);

/** Throws `unavailable`, with the problem of Redis, unless Redis accepts writes within two seconds. */
export async function assertRedis(ctx: Context): Promise<void> {
  await waitForRedis(ctx);
  const { problem } = await readRedisState(ctx.redis);
  if (problem) throw new AppError('unavailable', { message: redisProblemTexts[problem] });
}
