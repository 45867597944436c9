import type { Context } from '../base/context.ts';
import { canBeTexted } from '../base/e164.ts';
import { AppError } from '../base/errors.ts';
import { findAmong } from '../base/mongo/collection.ts';
import { drivers } from '../drivers/driver.ts';
import { canCarry, removeFromRequestLists } from '../drivers/nearby.ts';
import { applyAction } from './apply-action.ts';
import { newTerms } from './changed-fields.ts';
import type { Command } from './decide.ts';
import { assertPickupTime } from './pickup-time.ts';
import { type RideOwner, readRide } from './read-ride.ts';
import type { ChangedTerms, Origin, RideState } from './ride-types.ts';

/**
 * Changes the request of a ride (contract, section 10.14). Offers of live drivers whose cars no longer fit are withdrawn,
 * and the ride disappears from their requests. Resolves with the ride after the change, which may be none. Throws
 * `ride_not_found`, `ride_ended`, for a change of the trip `ride_not_bidding` and `bidding_over`, and a 400 for a new
 * pickup time that is too early or too late, or a phone number that cannot be texted.
 */
export async function changeTerms(
  ctx: Context,
  rideId: string,
  terms: ChangedTerms,
  owner: RideOwner,
  origin?: Origin,
): Promise<RideState> {
  for (;;) {
    const read = await readRide({ rideId, owner });
    if (!read) throw new AppError('ride_not_found');
    if (newTerms(read.ride, terms).includes('pickupAt')) assertPickupTime(terms, ctx.now());
    assertTexted(read.ride, terms);
    const asked = driversOf(read.ride);
    const unfit = await unfitAmong(asked, { ...read.ride, ...terms });
    let isStale = false;
    const command = (ride: RideState): Command | null => {
      // A driver who was asked in the meantime was not checked.
      isStale = [...driversOf(ride)].some((driverId) => !asked.has(driverId));
      return isStale ? null : { action: 'change', terms, unfit, ...(origin && { origin }) };
    };
    const changed = await applyAction(ctx, rideId, command, owner, origin);
    if (isStale) continue;
    if (unfit.size > 0) await removeFromRequestLists([...unfit], rideId);
    return changed;
  }
}

/** Throws a 400 if the passenger gets texts, and the new phone number cannot be texted. */
function assertTexted({ notify }: RideState, { passenger }: ChangedTerms): void {
  if (!passenger || !notify?.passenger || canBeTexted(passenger.phone ?? '')) return;
  const field = 'passenger.phone';
  const message = `${field} must be a phone number in E.164 form, such as +12025550143, because it is texted`;
  throw new AppError('invalid_request', { message, faults: [{ field, code: 'invalid', message }] });
}

const driversOf = ({ mode, asked = [], offers }: RideState): Set<string> =>
  new Set(mode === 'live' ? [...asked, ...offers.map(({ driver }) => driver)].map(({ driverId }) => driverId) : []);

/** The drivers whose cars do not serve a ride with these needs and passengers. */
async function unfitAmong(
  driverIds: ReadonlySet<string>,
  terms: Pick<RideState, 'needs' | 'passengerCount'>,
): Promise<Set<string>> {
  const found = await findAmong(drivers, driverIds, { seats: 1, equipment: 1 });
  return new Set(found.filter((driver) => !canCarry(terms, driver)).map(({ _id }) => _id));
}
