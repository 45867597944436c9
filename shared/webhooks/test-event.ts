import { charge } from '../accounts/limit.ts';
import type { Context } from '../base/context.ts';
import { AppError, limitReached } from '../base/errors.ts';
import { newAttemptId } from '../base/ids.ts';
import { timeLimit } from '../base/mongo/durability.ts';
import { keys } from '../keys/api-key.ts';
import { eventBody, trackUrl } from '../rides/events.ts';
import type { RideState } from '../rides/ride-types.ts';
import { enqueueAttempt, type PendingAttempt } from './attempt-jobs.ts';
import { type AskedBy, attemptOfForm, insertUnlessTaken } from './attempts.ts';

const testEvents = { name: 'test_event', most: 10, perMs: 60_000 };

/**
 * Sends a sample event to the default webhook URL of a key, through the queue and the sender of all events, with the header
 * `X-Service-Test`. Resolves with the id of the attempt, whose outcome is recorded a moment later. Throws `not_found` for a key
 * that is unknown, revoked or of another account, and `rate_limited` beyond 10 a minute for one key. Sends one event for each
 * form: its repeat resolves with the same id.
 */
export async function sendTestEvent(
  ctx: Context,
  keyId: string,
  { accountId, requestId, form }: AskedBy,
): Promise<string> {
  const filter = { _id: keyId, accountId, revokedAt: { $exists: false } };
  const key = await keys.findOne(filter, { projection: { mode: 1 }, ...timeLimit() });
  if (!key) throw new AppError('not_found');
  const earlier = await attemptOfForm(form);
  if (earlier) return repeated(ctx, earlier);
  const now = ctx.now();
  await countTestEvent(keyId, now);
  const at = new Date(now);
  const pending = { _id: newAttemptId(now), keyId, dueAt: at };
  const inserted = await insertUnlessTaken({
    ...pending,
    accountId,
    mode: key.mode,
    kind: 'test',
    event: 'ride.status',
    at,
    outcome: 'waiting',
    body: sampleBody(ctx, now),
    ...(requestId && { requestId }),
    ...(form && { form }),
    state: 'waiting',
    tries: 0,
  });
  const first = inserted ? null : await attemptOfForm(form);
  if (first) return repeated(ctx, first);
  await enqueueAttempt(ctx, pending);
  return pending._id;
}

/** The first sending may have stored the attempt without adding its job. */
async function repeated(ctx: Context, earlier: PendingAttempt): Promise<string> {
  if (earlier.dueAt) await enqueueAttempt(ctx, earlier);
  return earlier._id;
}

async function countTestEvent(keyId: string, nowMs: number): Promise<void> {
  const charged = await charge(testEvents, keyId, nowMs);
  if (!charged.isFull) return;
  const seconds = Math.ceil(charged.freesMs / 1_000);
  throw limitReached('rate_limited', 'at most 10 test events a minute for each key', {
    'Retry-After': String(seconds),
  });
}

/** A ride that does not exist, in the form of a test ride's event. The phone number is from the range reserved for fiction. */
function sampleBody({ config }: Pick<Context, 'config'>, at: number): string {
  const ride = {
    _id: 'ride_sample',
    mode: 'test',
    status: 'driver_arriving',
    fare: 25,
    agreedPrice: 25,
    trackToken: 'sample',
    driver: { name: 'Alex Rivera', phone: '+12025550143', plate: 'TST 1043', vehicle: 'Toyota Camry, silver' },
  } as RideState;
  return eventBody({ event: 'ride.status', ride, at, trackUrl: trackUrl(config.trackBaseUrl, ride) });
}
