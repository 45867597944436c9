import type { Context } from '../../shared/context.ts';
import { AppError, describeError } from '../../shared/errors.ts';
import { randomBase62, sha256 } from '../../shared/ids.ts';
import { type CreationFields, type NewRide, UnconfirmedRide } from '../../shared/rides/create-ride.ts';
import type { RequestContext } from '../types.ts';
import { type Creation, hour, localLog, minute, redisLog, type WindowCount, type WindowCounts } from './sliding-log.ts';

interface Charge {
  /** The draft RateLimit fields of the answer. */
  headers: Record<string, string>;
  /** Refunds the charge of a creation that failed, unless another request shares it. Never fails. */
  refund(): Promise<void>;
}

/**
 * Counts a key's creations (contract, section 8), exactly over all processes; while Redis is away, in this process alone. Only
 * a creation that succeeds is charged. Throws `rate_limited` with Retry-After: the seconds until the longer exhausted
 * window frees. Requests with the same Idempotency-Key are one creation, even concurrent ones.
 */
export function limitCreations(service: Pick<Context, 'redis' | 'now' | 'log'>) {
  const charge = chargeCreations(service);
  return async (ctx: RequestContext, input: NewRide, create: (input: NewRide) => Promise<CreationFields>) => {
    const charged = await charge(input.key.keyId, input.idempotencyKey);
    try {
      const ride = await create(input);
      ctx.set(charged.headers);
      return ride;
    } catch (error) {
      if (error instanceof UnconfirmedRide) void refundUnlessMade(error, input, charged);
      // After a conflict the charge stays: it belongs to the ride that the other request with this Idempotency-Key created.
      else if (!(error instanceof AppError && error.code === 'idempotency_conflict')) await charged.refund();
      throw error;
    }
  };
}

/** With an Idempotency-Key, retries share this charge, so it is not refunded. */
async function refundUnlessMade(error: UnconfirmedRide, input: NewRide, charged: Charge): Promise<void> {
  if (input.idempotencyKey === undefined && !(await error.isMade())) await charged.refund();
}

function chargeCreations({ redis, now, log: logger }: Pick<Context, 'redis' | 'now' | 'log'>) {
  const shared = redisLog(redis);
  const local = localLog(now);
  let isShared = true;

  return async function charge(keyId: string, idempotencyKey?: string): Promise<Charge> {
    const creation: Creation =
      idempotencyKey === undefined
        ? { id: randomBase62(16), isRepeatable: false }
        : { id: sha256(idempotencyKey), isRepeatable: true };
    let log = shared;
    let counts: WindowCounts;
    try {
      counts = await shared.charge(keyId, creation);
      isShared = true;
    } catch (error) {
      // An outage of Redis is logged elsewhere; any other failure of the limit is logged here, once until it is over.
      if (redis.status === 'ready' && isShared)
        logger.warn({ keyId, error: describeError(error) }, 'limit counted here alone');
      isShared = false;
      log = local;
      counts = await local.charge(keyId, creation);
    }
    if (counts.result === 'refused') throw refusal(counts);
    const refund = async () => {
      await log.refund(keyId, creation);
    };
    // If the refund fails, the key has one creation less for an hour: better than hiding the first error behind a second.
    return { headers: limitHeaders(counts), refund: () => refund().catch(() => {}) };
  };
}

function refusal(counts: WindowCounts): AppError {
  const exhausted = [minute, hour].filter(({ name, limit }) => counts[name].count >= limit);
  const waitMs = Math.max(...exhausted.map(({ name }) => counts[name].freesMs));
  return new AppError('rate_limited', { headers: { ...limitHeaders(counts), 'Retry-After': String(seconds(waitMs)) } });
}

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

function limitHeaders(counts: WindowCounts): Record<string, string> {
  const left = (limit: number, { count, freesMs }: WindowCount) =>
    `r=${Math.max(0, limit - count)};t=${seconds(freesMs)}`;
  const item = (window: typeof minute | typeof hour, parameters: string) => `"${window.name}";${parameters}`;
  return {
    'RateLimit-Policy': [minute, hour]
      .map((window) => item(window, `q=${window.limit};w=${window.lengthMs / 1_000}`))
      .join(', '),
    RateLimit: [minute, hour].map((window) => item(window, left(window.limit, counts[window.name]))).join(', '),
  };
}
