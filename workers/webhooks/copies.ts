import type { Context } from '../../shared/base/context.ts';
import { eventId } from '../../shared/base/ids.ts';
import { endpointsFor } from '../../shared/keys/endpoints.ts';
import { timeOf } from '../../shared/rides/events.ts';
import { eventFields } from '../../shared/webhooks/attempts.ts';
import { storeCopies } from '../../shared/webhooks/copies-of-event.ts';
import type { SettingsOrOutcome } from './attempt.ts';
import type { ClaimedEvent } from './claim-event.ts';

/**
 * Stores a copy of a claimed event for each further endpoint that wants it (contract, section 10.22). Call it between
 * the claim and the attempt: so an event is settled only after its copies are stored, and a run that takes over a dead
 * claim stores the same copies again. Throws if MongoDB is unavailable; the event then waits until its claim expires.
 */
export async function storeCopiesOf(
  ctx: Context,
  { ride, event }: Pick<ClaimedEvent, 'ride' | 'event'>,
  settings: SettingsOrOutcome,
): Promise<void> {
  if (!('outcome' in settings) && !settings.hasEndpoints) return;
  const wanted = await endpointsFor(ride.keyId, event.event);
  const requestId = event.requestId ?? ride.origin?.requestId;
  await storeCopies(ctx, ride, wanted, {
    eventId: eventId(ride._id, event.seq),
    at: timeOf(event),
    ...eventFields(event),
    ...(requestId && { requestId }),
  });
}
