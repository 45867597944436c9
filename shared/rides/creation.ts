import { charge as chargeLimit } from '../accounts/limit.ts';
import type { Context } from '../base/context.ts';
import { AppError, type ErrorCode, limitReached } from '../base/errors.ts';
import { sha256 } from '../base/ids.ts';
import { type Charge, chargeCreations } from './charge-creation.ts';
import {
  type CreationFields,
  createRide,
  findReplay,
  idempotencyLifeMs,
  type NewRide,
  UnconfirmedRide,
} from './create-ride.ts';
import { assertPickupTime } from './pickup-time.ts';

/** A refusal that a test scenario asks for. It is no fault: no metric or log line counts it as one. */
export class SimulatedRefusal extends AppError {
  constructor({ code, message, headers }: AppError) {
    super(code, { message, headers });
  }
}

interface Created {
  ride: CreationFields;
  /** The RateLimit headers of the response. A repeat is not charged and has none. */
  headers: Record<string, string>;
}

const ownedByOther: readonly ErrorCode[] = ['idempotency_conflict', 'ride_erased'];

/**
 * Creates rides in this process within the limits (contract, sections 4.1 and 8). The partner API, the console and the
 * desk share them. A repeat with an Idempotency-Key gets the same ride and is not charged. Failed creations are refunded;
 * refusals of a test scenario are not.
 *
 * The returned function throws what `createRide` throws, a 400 for a pickup that is too early or too late, `rate_limited`,
 * and SimulatedRefusal.
 */
export function rideCreation(service: Context): (input: NewRide) => Promise<Created> {
  const charge = chargeCreations(service);

  return async (input) => {
    const replayed = await findReplay(service, input);
    if (replayed) return { ride: replayed, headers: {} };
    assertPickupTime(input.request, service.now());
    const charged = await charge(input);
    try {
      await refuseFirst(service, input);
      return { ride: await createRide(service, input), headers: charged.headers };
    } catch (error) {
      if (error instanceof SimulatedRefusal) throw error;
      if (error instanceof UnconfirmedRide) void refundUnlessMade(error, input, charged);
      // The charge belongs to the ride that another request with this Idempotency-Key created.
      else if (!(error instanceof AppError && ownedByOther.includes(error.code))) await charged.refund();
      throw error;
    }
  };
}

const firstRequests = { name: 'refused_creation', most: 1, perMs: idempotencyLifeMs };

/**
 * Refuses the first request of each Idempotency-Key in the test scenarios `rate_limited` and `unavailable` (contract,
 * section 3), and every request without an Idempotency-Key. Call it after the creation was charged, and keep the charge:
 * otherwise a test key could send and store any number of refused requests.
 */
async function refuseFirst({ now }: Pick<Context, 'now'>, input: NewRide): Promise<void> {
  const { key, idempotencyKey, scenario } = input;
  if (scenario !== 'rate_limited' && scenario !== 'unavailable') return;
  if (idempotencyKey !== undefined) {
    const { isFull } = await chargeLimit(firstRequests, `${key.keyId} ${sha256(idempotencyKey)}`, now());
    if (isFull) return;
  }
  const limit = 'the test scenario refuses the first request';
  throw new SimulatedRefusal(
    scenario === 'unavailable' ? new AppError(scenario) : limitReached(scenario, limit, { 'Retry-After': '1' }),
  );
}

/** Refunds the charge once it is certain that no ride was created, unless retries share the charge. */
async function refundUnlessMade(error: UnconfirmedRide, input: NewRide, charged: Charge): Promise<void> {
  if (input.idempotencyKey === undefined && !(await error.wasCreated())) await charged.refund();
}
