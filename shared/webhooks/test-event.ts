import { charge } from '../accounts/limit.ts';
import type { Context } from '../base/context.ts';
import { AppError, limitReached } from '../base/errors.ts';
import { eventId, newAttemptId } from '../base/ids.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { keys } from '../keys/api-key.ts';
import { eventBody, trackUrl } from '../rides/events.ts';
import type { RideState } from '../rides/ride-types.ts';
import { enqueueAttempt, type PendingAttempt } from './attempt-jobs.ts';
import { attemptOfForm, insertUnlessDuplicate, type Requester, waitingUntil } from './attempts.ts';

const testEvents = { name: 'test_event', most: 10, perMs: 60_000 };

/**
 * Sends a sample event to the default webhook URL of a key, or to a further endpoint of it, through the normal queue and sender, with the header
 * `X-Service-Test`. Resolves with the id of the attempt, whose outcome is recorded later. Throws `not_found` for a key
 * that is unknown, revoked or of another account, and `rate_limited` above 10 a minute per key. Sends one event per
 * form: a repeat resolves with the same id.
 */
export async function sendTestEvent(
  ctx: Context,
  keyId: string,
  { accountId, requestId, form, endpointId }: Requester & { endpointId?: string },
): Promise<string> {
  const filter = { _id: keyId, accountId, revokedAt: { $exists: false } };
  const key = await keys.findOne(filter, { projection: { mode: 1 }, ...timeLimit() });
  if (!key) throw new AppError('not_found');
  const earlier = await attemptOfForm(form);
  if (earlier) return repeatRequest(ctx, earlier);
  const now = ctx.now();
  await chargeTestEvent(keyId, now);
  const at = new Date(now);
  const pending = { _id: newAttemptId(now), keyId, ...(endpointId && { endpointId }), ...waitingUntil(at) };
  const inserted = await insertUnlessDuplicate({
    ...pending,
    accountId,
    mode: key.mode,
    kind: 'test',
    event: 'ride.status',
    rideStatus: 'driver_arriving',
    at,
    body: sampleBody(ctx, pending._id, now),
    ...(requestId && { requestId }),
    ...(form && { form }),
  });
  const first = inserted ? null : await attemptOfForm(form);
  if (first) return repeatRequest(ctx, first);
  await enqueueAttempt(ctx, pending);
  return pending._id;
}

/** Adds the job again, because the form's first request may have failed after it stored the attempt. */
async function repeatRequest(ctx: Context, earlier: PendingAttempt): Promise<string> {
  if (earlier.dueAt) await enqueueAttempt(ctx, earlier);
  return earlier._id;
}

async function chargeTestEvent(keyId: string, nowMs: number): Promise<void> {
  const charged = await charge(testEvents, keyId, nowMs);
  if (!charged.isFull) return;
  const seconds = Math.ceil(charged.freesMs / 1_000);
  throw limitReached('rate_limited', 'at most 10 test events a minute for each key', {
    'Retry-After': String(seconds),
  });
}

/** An event of a fictitious test ride. The phone number is from the range that is reserved for fiction. */
function sampleBody({ config }: Pick<Context, 'config'>, attemptId: string, at: number): string {
  const ride = {
    _id: 'ride_sample',
    mode: 'test',
    status: 'driver_arriving',
    fare: 25,
    agreedPrice: 25,
    trackToken: 'sample',
    driver: { name: 'Alex Rivera', phone: '+12025550143', plate: 'TST 1043', vehicle: 'Toyota Camry, silver' },
  } as RideState;
  const identity = { eventId: eventId(attemptId, 1), sequence: 1 };
  return eventBody({ event: 'ride.status', ride, at, trackUrl: trackUrl(config.trackBaseUrl, ride), ...identity });
}
