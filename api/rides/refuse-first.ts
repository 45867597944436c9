import { charge } from '../../shared/accounts/limit.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError, limitReached } from '../../shared/base/errors.ts';
import { sha256 } from '../../shared/base/ids.ts';
import { type CreationFields, idempotencyLifeMs, type NewRide } from '../../shared/rides/create-ride.ts';
import type { RequestContext } from '../part.ts';

const firstRequests = { name: 'refused_creation', most: 1, perMs: idempotencyLifeMs };

const refusals: Partial<Record<string, () => AppError>> = {
  rate_limited: () =>
    limitReached('rate_limited', 'the test scenario refuses the first request', { 'Retry-After': '1' }),
  unavailable: () => new AppError('unavailable'),
};

type Limit = (
  ctx: RequestContext,
  input: NewRide,
  create: (input: NewRide) => Promise<CreationFields>,
) => Promise<CreationFields>;

/**
 * Refuses the first request of each Idempotency-Key in the test scenarios `rate_limited` and `unavailable` (contract,
 * section 3), and every request without an Idempotency-Key. All other requests go to `limit`. A refused request is not
 * charged and creates nothing.
 */
export function refuseFirst(service: Pick<Context, 'now'>, limit: Limit): Limit {
  return async (ctx, input, create) => {
    const refusal = refusals[input.scenario ?? ''];
    if (refusal && (await isFirst(service, input))) throw refusal();
    return limit(ctx, input, create);
  };
}

async function isFirst({ now }: Pick<Context, 'now'>, { key, idempotencyKey }: NewRide): Promise<boolean> {
  if (idempotencyKey === undefined) return true;
  const { isFull } = await charge(firstRequests, `${key.keyId} ${sha256(idempotencyKey)}`, now());
  return !isFull;
}
