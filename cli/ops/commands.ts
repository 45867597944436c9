import { accountOf, operatorEmail } from '../../shared/accounts/account.ts';
import { type AuditEntry, audit, commandLine } from '../../shared/accounts/audit.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { PoolName } from '../../shared/base/queues.ts';
import { pingRedis } from '../../shared/base/redis/redis-nodes.ts';
import { suspendDriver } from '../../shared/drivers/manage-drivers.ts';
import { findKey, resumeKey, suspendKey } from '../../shared/keys/manage-keys.ts';
import { resumeAccount, suspendAccount } from '../../shared/keys/suspend-account.ts';
import { sweepFully } from '../../shared/process/ops/full-sweep.ts';
import { backlog, queueStates } from '../../shared/process/ops/queue-states.ts';
import { eraseRide } from '../../shared/retention/erase-rides.ts';
import { applyAction } from '../../shared/rides/change-ride.ts';
import { resumeDriver } from '../../shared/rides/driver/settle-driver.ts';
import { countUndelivered, mostAtOnce, redeliverFailed, type Stretch } from '../../shared/webhooks/redeliver.ts';
import { type RideHistory, rideHistory } from '../../shared/webhooks/ride-history.ts';
import type { Kind, OpsArguments } from './arguments.ts';
import type { CommandName } from './usage.ts';

const sweepLimitMs = 60_000;

type Command = (ctx: Context, args: OpsArguments) => Promise<object>;

/** What each command does, and its answer. */
export const commands: Record<CommandName, Command> = {
  async queues(ctx) {
    await assertRedis(ctx);
    return { queues: await queueStates(ctx), backlog: await backlog() };
  },
  pause: (ctx, args) => setPaused(ctx, args, true),
  resume: (ctx, args) => (args.pool ? setPaused(ctx, args, false) : setSuspended(args, false)),
  suspend: (_ctx, args) => setSuspended(args, true),
  async sweep(ctx, { by }) {
    await assertRedis(ctx);
    const startedAt = performance.now();
    const found = await sweepFully(ctx.redis, sweepLimitMs);
    if (!found) {
      throw new AppError('unavailable', {
        message: `No sweep has ended within ${sweepLimitMs / 1_000} s: it goes on, or no worker process is running`,
      });
    }
    await noted(by, { action: 'swept' });
    return { swept: true, seconds: Math.round((performance.now() - startedAt) / 100) / 10, ...found };
  },
  async ride(ctx, { id, cancel, by }): Promise<RideHistory & { cancelled?: true }> {
    if (!cancel) return rideHistory(id);
    const origin = { by: 'operator' } as const;
    const { accountId } = await applyAction(ctx, id, { action: 'cancel', by: 'partner' }, 'anyone', origin);
    await noted(by, { action: 'ride_cancelled', accountId, about: id });
    return { cancelled: true, ...(await rideHistory(id)) };
  },
  async resend(ctx, { stretch, keyId, send, by }) {
    if (!stretch) throw new AppError('invalid_request');
    if (keyId) await findKey(keyId, 'anyone');
    const found = await countUndelivered(stretch, keyId);
    if (!send) return { ...stretch, keys: found, sent: 0 };
    let sent = 0;
    for (const { keyId, accountId } of found) {
      const sentOfKey = await redeliverAll(ctx, keyId, stretch, accountId);
      sent += sentOfKey;
      if (sentOfKey > 0) await noted(by, { action: 'events_resent', accountId, keyId });
    }
    return { ...stretch, keys: found, sent };
  },
  async erase(_ctx, { id, by }) {
    const accountId = await eraseRide(id);
    await noted(by, { action: 'ride_erased', accountId, about: id });
    return { rideId: id, erased: true };
  },
};

/** One call sends 500 events at most; what waits or has arrived is left out of the next. */
async function redeliverAll(ctx: Context, keyId: string, stretch: Stretch, accountId: string): Promise<number> {
  for (let sent = 0; ; ) {
    const batch = await redeliverFailed(ctx, keyId, stretch, { accountId });
    sent += batch;
    if (batch < mostAtOnce) return sent;
  }
}

async function setPaused(ctx: Context, { pool, by }: OpsArguments, paused: boolean): Promise<object> {
  await assertRedis(ctx);
  const queue = ctx.queues[pool as PoolName];
  await (paused ? queue.pause() : queue.resume());
  await noted(by, { action: paused ? 'pool_paused' : 'pool_resumed', about: pool });
  return { pool, paused };
}

async function setSuspended({ kind, id, by }: OpsArguments, suspended: boolean): Promise<object> {
  const answer = await suspensions[kind as Kind](id, suspended, by);
  return { ...answer, suspended };
}

const suspensions: Record<Kind, (id: string, suspended: boolean, by: string) => Promise<object>> = {
  async account(accountId, suspended, by) {
    const activeKeys = await (suspended ? suspendAccount(accountId) : resumeAccount(accountId));
    await noted(by, { action: suspended ? 'account_suspended' : 'account_resumed', accountId });
    return { accountId, activeKeys };
  },
  async key(keyId, suspended, by) {
    await (suspended ? suspendKey(keyId) : resumeKey(keyId));
    const { accountId } = await findKey(keyId, 'anyone');
    await noted(by, { action: suspended ? 'key_suspended' : 'key_resumed', accountId, keyId });
    return { keyId };
  },
  async driver(driverId, suspended, by) {
    await (suspended ? suspendDriver(driverId) : resumeDriver(driverId));
    await noted(by, { action: suspended ? 'driver_suspended' : 'driver_resumed', about: driverId });
    return { driverId };
  },
};

type Noted = Pick<AuditEntry, 'action' | 'keyId' | 'about'> & { accountId?: string };

/** Notes who did it, in the account that it concerns, or else in the operator's. */
async function noted(by: string, { accountId, ...entry }: Noted): Promise<void> {
  const whose = accountId ?? (await accountOf(operatorEmail))._id;
  await audit({ accountId: whose, ...entry, by, from: commandLine }, Date.now());
}

async function assertRedis({ redis }: Context): Promise<void> {
  await pingRedis(redis).catch(() => {
    throw new AppError('unavailable', { message: 'Redis does not answer' });
  });
}
