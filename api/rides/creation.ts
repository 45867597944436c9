import { charge as chargeLimit } from '../../shared/accounts/limit.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError, describeError, type ErrorCode, limitReached } from '../../shared/base/errors.ts';
import { randomBase62, sha256 } from '../../shared/base/ids.ts';
import {
  type CreationFields,
  createRide,
  findReplay,
  idempotencyLifeMs,
  type NewRide,
  UnconfirmedRide,
} from '../../shared/rides/create-ride.ts';
import type { ChangeSteps } from '../http/route.ts';
import type { RequestContext } from '../part.ts';
import {
  accountWindows,
  type Creation,
  keyWindows,
  type LimitWindow,
  localLog,
  redisLog,
  type WindowCount,
  type WindowCounts,
} from './creation-limit.ts';
import { assertPickupTime } from './new-ride.ts';

/** The steps of a creation after its validation. The partner API, the console and the desk share their limit. */
export type RideCreation = Required<ChangeSteps<NewRide, CreationFields>>;

/** Creates rides in this process (contract, sections 4.1 and 8). */
export function rideCreation(service: Context): RideCreation {
  return {
    async replay(ride) {
      const replayed = await findReplay(service, ride);
      if (!replayed) assertPickupTime(ride.request, service.now());
      return replayed;
    },
    limit: limitCreations(service),
    act: (ride) => createRide(service, ride),
  };
}

const ownedByOther: readonly ErrorCode[] = ['idempotency_conflict', 'ride_erased'];

interface Charge {
  /** The RateLimit headers of the response (IETF draft). */
  headers: Record<string, string>;
  /** Refunds the charge of a creation that failed, unless another request shares it. Never fails. */
  refund(): Promise<void>;
}

/**
 * Counts a key's creations (contract, section 8, or the key's own limit). The count is exact across all processes. While Redis is unavailable, each process
 * counts only its own. If the operator has set a limit for accounts, all keys of an account are also counted together.
 * Requests with the same Idempotency-Key count as one creation, even if concurrent. Failed creations are refunded; refusals of
 * a test scenario are not.
 *
 * Throws `rate_limited`. Retry-After is the number of seconds until all exhausted windows have room.
 */
function limitCreations(service: Pick<Context, 'redis' | 'now' | 'log' | 'config'>) {
  const chargeKey = chargeCreations(service);
  const { ridesPerAccountMinute } = service.config;
  const chargeAccount = ridesPerAccountMinute > 0 && chargeCreations(service);

  /** Charges the account, then the key. Not atomic, because their logs can be on two nodes of a Redis Cluster. */
  async function charge({ key: { keyId, accountId, limit }, idempotencyKey }: NewRide): Promise<Charge> {
    // The same Idempotency-Key with two API keys means two creations.
    const ofAccount = idempotencyKey === undefined ? undefined : `${keyId} ${idempotencyKey}`;
    const account = chargeAccount && (await chargeAccount(accountId, accountWindows(ridesPerAccountMinute), ofAccount));
    try {
      const charged = await chargeKey(keyId, keyWindows(limit), idempotencyKey);
      return account ? combineCharges(charged, account) : charged;
    } catch (error) {
      if (account) await account.refund();
      throw error;
    }
  }

  return async (ctx: RequestContext, input: NewRide, create: (input: NewRide) => Promise<CreationFields>) => {
    const charged = await charge(input);
    try {
      await refuseFirst(service, ctx, input);
      const ride = await create(input);
      ctx.set(charged.headers);
      return ride;
    } catch (error) {
      if (ctx.state.isSimulated) throw error;
      if (error instanceof UnconfirmedRide) void refundUnlessMade(error, input, charged);
      // The charge belongs to the ride that another request with this Idempotency-Key created.
      else if (!(error instanceof AppError && ownedByOther.includes(error.code))) await charged.refund();
      throw error;
    }
  };
}

const firstRequests = { name: 'refused_creation', most: 1, perMs: idempotencyLifeMs };

const refusals: Partial<Record<string, () => AppError>> = {
  rate_limited: () =>
    limitReached('rate_limited', 'the test scenario refuses the first request', { 'Retry-After': '1' }),
  unavailable: () => new AppError('unavailable'),
};

/**
 * Refuses the first request of each Idempotency-Key in the test scenarios `rate_limited` and `unavailable` (contract,
 * section 3), and every request without an Idempotency-Key. Call it after the creation was charged, and keep the charge:
 * otherwise a test key could send and store any number of refused requests.
 */
async function refuseFirst({ now }: Pick<Context, 'now'>, { state }: RequestContext, input: NewRide): Promise<void> {
  const refusal = refusals[input.scenario ?? ''];
  if (!refusal || !(await isFirst(now, input))) return;
  state.isSimulated = true;
  throw refusal();
}

async function isFirst(now: () => number, { key, idempotencyKey }: NewRide): Promise<boolean> {
  if (idempotencyKey === undefined) return true;
  const { isFull } = await chargeLimit(firstRequests, `${key.keyId} ${sha256(idempotencyKey)}`, now());
  return !isFull;
}

const combineCharges = (one: Charge, other: Charge): Charge => ({
  headers: Object.fromEntries(
    Object.entries(one.headers).map(([name, value]) => [name, `${value}, ${other.headers[name]}`]),
  ),
  async refund() {
    await Promise.all([one.refund(), other.refund()]);
  },
});

/** Refunds the charge once it is certain that no ride was created, unless retries share the charge. */
async function refundUnlessMade(error: UnconfirmedRide, input: NewRide, charged: Charge): Promise<void> {
  if (input.idempotencyKey === undefined && !(await error.wasCreated())) await charged.refund();
}

function chargeCreations({ redis, now, log: logger }: Pick<Context, 'redis' | 'now' | 'log'>) {
  const shared = redisLog(redis);
  const local = localLog(now);
  let isShared = true;

  return async function charge(id: string, windows: readonly LimitWindow[], idempotencyKey?: string): Promise<Charge> {
    const creation: Creation =
      idempotencyKey === undefined
        ? { id: randomBase62(16), isRepeatable: false }
        : { id: sha256(idempotencyKey), isRepeatable: true };
    let log = shared;
    let charged: WindowCounts;
    try {
      charged = await shared.charge(id, creation, windows);
      isShared = true;
    } catch (error) {
      // An outage of Redis is logged elsewhere. Any other failure is logged here, once until it is over.
      if (redis.status === 'ready' && isShared)
        logger.warn({ error: describeError(error) }, 'limit counted in this process only');
      isShared = false;
      log = local;
      charged = await local.charge(id, creation, windows);
    }
    const counted = countsOf(windows, charged);
    if (charged.result === 'refused') throw refusal(counted);
    const refund = async () => {
      await log.refund(id, creation);
    };
    // A failed refund is ignored: it costs the key one creation for an hour, which is better than hiding the original
    // error.
    return { headers: limitHeaders(counted), refund: () => refund().catch(() => {}) };
  };
}

type Counted = LimitWindow & WindowCount;

const countsOf = (windows: readonly LimitWindow[], { counts }: WindowCounts): Counted[] =>
  windows.map((window, index) => ({ ...window, ...(counts[index] as WindowCount) }));

/** The 429. Of the exhausted windows, it names the one that will have room last. */
function refusal(windows: readonly Counted[]): AppError {
  const exhausted = windows.filter(({ count, limit }) => count >= limit);
  const [last] = exhausted.sort((a, b) => b.freesMs - a.freesMs);
  const headers = { ...limitHeaders(windows), 'Retry-After': String(toWholeSeconds(last?.freesMs ?? 0)) };
  return limitReached('rate_limited', last?.words ?? '', headers);
}

const toWholeSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

function limitHeaders(windows: readonly Counted[]): Record<string, string> {
  const list = (parameters: (window: Counted) => string) =>
    windows.map((window) => `"${window.name}";${parameters(window)}`).join(', ');
  return {
    'RateLimit-Policy': list(({ limit, lengthMs }) => `q=${limit};w=${lengthMs / 1_000}`),
    RateLimit: list(({ limit, count, freesMs }) => `r=${Math.max(0, limit - count)};t=${toWholeSeconds(freesMs)}`),
  };
}
