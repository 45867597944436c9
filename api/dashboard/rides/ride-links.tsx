import type { Ride } from '../../../shared/rides/ride-types.ts';
import { deskPath, receiptPath } from '../../../web/kit/paths.ts';

/** Books a ride like this one, and prints its receipt. */
export function RideLinks({ ride, desk = true }: { ride: Pick<Ride, '_id' | 'status' | 'erasedAt'>; desk?: boolean }) {
  const { _id, status, erasedAt } = ride;
  const isBookable = desk && !erasedAt;
  if (!isBookable && status !== 'completed') return null;
  return (
    <p class="ride-links" id={`links-${_id}`}>
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
