import { charge } from '../../shared/accounts/limit.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError, limitReached } from '../../shared/base/errors.ts';
import { sha256 } from '../../shared/base/ids.ts';
import { idempotencyLifeMs, type NewRide } from '../../shared/rides/create-ride.ts';
import type { RequestContext } from '../part.ts';

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
export async function refuseFirst(
  { now }: Pick<Context, 'now'>,
  { state }: RequestContext,
  input: NewRide,
): Promise<void> {
  const refusal = refusals[input.scenario ?? ''];
  if (!refusal || !(await isFirst(now, input))) return;
  state.isSimulated = true;
  throw refusal();
}

async function isFirst(now: () => number, { key, idempotencyKey }: NewRide): Promise<boolean> {
  if (idempotencyKey === undefined) return true;
  const { isFull } = await charge(firstRequests, `${key.keyId} ${sha256(idempotencyKey)}`, now());
  return !isFull;
}
