import { callUrl } from '../../shared/base/call-url.ts';
import { AppError } from '../../shared/base/errors.ts';
import { rideOf } from '../../shared/rides/list-rides.ts';
import { placeText } from '../../shared/rides/place-text.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import type { PageRequest } from './answer.ts';
import { shortId } from './facts.tsx';
import { deskPath, receiptPath } from './paths.ts';

/** What several pages show of a ride. */

/** The ride of a request's path. Throws `not_found` if the account has no such ride. */
export async function ownRide({ owner, param }: Pick<PageRequest, 'owner' | 'param'>): Promise<Ride> {
  const ride = await rideOf(param('rideId'), owner);
  if (!ride) throw new AppError('not_found');
  return ride;
}

/** What people call a ride: its passenger, or its reference. A ride without both has only its id. */
export const rideName = ({ _id, passenger, reference }: Pick<Ride, '_id' | 'passenger' | 'reference'>): string =>
  passenger?.name || reference || `Ride ${shortId(_id)}`;

/** Pickup and destination in one line. */
export function TripText({ ride: { pickup, destination } }: { ride: Pick<Ride, 'pickup' | 'destination'> }) {
  return (
    <p>
      {placeText(pickup)} <span class="quiet">to</span> {placeText(destination)}
    </p>
  );
}

/** A phone number, as a link if it can be called. */
export function Phone({ phone }: { phone?: string }) {
  const url = phone && callUrl(phone);
  return url ? <a href={url}>{phone}</a> : (phone ?? null);
}

/** Books a ride like this one, and prints its receipt. */
export function RideLinks({ ride, desk = true }: { ride: Pick<Ride, '_id' | 'status' | 'erasedAt'>; desk?: boolean }) {
  const { _id, status, erasedAt } = ride;
  const isBookable = desk && !erasedAt;
  if (!isBookable && status !== 'completed') return null;
  return (
    <p class="links" id={`links-${_id}`}>
      {isBookable && (
        <>
          <a href={`${deskPath()}?repeat=${_id}`}>Repeat</a> <a href={`${deskPath()}?return=${_id}`}>Return trip</a>{' '}
          <a href={`${deskPath()}?tomorrow=${_id}`}>Same ride tomorrow</a>{' '}
        </>
      )}
      {status === 'completed' && <a href={receiptPath(_id)}>Receipt</a>}
    </p>
  );
}
