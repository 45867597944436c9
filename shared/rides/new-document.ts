import type { Config } from '../base/config.ts';
import { newPin, newTrackToken } from '../base/ids.ts';
import { firstFields } from './first-timers.ts';
import { messageFields } from './message-fields.ts';
import { earliestDueAt } from './ride-jobs.ts';
import type { Ride, RideRequest } from './ride-types.ts';
import { searchTermsOf } from './search-terms.ts';

type Given = Pick<Ride, '_id' | 'keyId' | 'accountId' | 'mode' | 'scenario' | 'origin' | 'createdAt'> &
  Partial<Pick<Ride, 'idempotency' | 'replaces' | 'rebids' | 'excludedDrivers'>>;

/** The document of a new ride, with a new track token. */
export function newDocument(
  { request, ...given }: Given & { request: RideRequest },
  timing: Pick<Config, 'biddingTimeoutMs' | 'scheduleLeadMs' | 'simulationSpeed'>,
): Ride {
  const { _id, keyId, accountId, mode, scenario, idempotency, origin, createdAt, ...chain } = given;
  const { pickup, pickupAt } = request;
  const first = firstFields({ mode, scenario, pickup, pickupAt }, createdAt, timing);
  const searchTerms = searchTermsOf(request);
  // A successor is no booking.
  const message = pickupAt && !chain.replaces ? 'booked' : undefined;
  const owed = messageFields({ notify: request.notify }, message, createdAt, first.timers);
  const nextDueAt = earliestDueAt(owed.timers);
  return {
    _id,
    keyId,
    accountId,
    mode,
    ...request,
    ...(scenario && { scenario }),
    ...(idempotency && { idempotency }),
    ...(origin && { origin }),
    ...chain,
    trackToken: newTrackToken(),
    ...(request.pin && { pinCode: newPin() }),
    ...(searchTerms.length > 0 && { searchTerms }),
    createdAt,
    rev: 0,
    status: 'bidding',
    statusAt: createdAt,
    offers: [],
    ...first,
    ...owed,
    // A ride that waits to open is in no index of due timers.
    ...(nextDueAt && { nextDueAt }),
    events: [],
    seq: 0,
    settledSeq: 0,
    unsettled: 0,
  };
}
