import { AppError } from '../../../shared/base/errors.ts';
import { batchedFind } from '../../../shared/base/mongo/batch.ts';
import { committedReads } from '../../../shared/base/mongo/durability.ts';
import { withReportedPosition } from '../../../shared/rides/read-ride.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { trackFields } from '../../../web/track/track-state.ts';
import type { RideView } from '../../streams/followed-rides.ts';
import type { RideStreams } from '../streams.ts';
import { type FollowedRide, newsOf, type RideNews } from './ride-news.ts';

const newsFields = { ...trackFields, accountId: 1, rev: 1, settledSeq: 1, unsettled: 1 } as const;
const findRide = batchedFind<Ride, FollowedRide>(rides, '_id', newsFields, committedReads);

/** Reads a ride of an account for the news of its page. Throws `not_found` for an unknown ride. */
export async function followedRide(rideId: string, owner: { accountId: string }): Promise<FollowedRide> {
  const ride = await findRide(rideId);
  if (ride?.accountId !== owner.accountId) throw new AppError('not_found');
  return withReportedPosition(ride);
}

/** The streams of the rides' pages. */
export type NewsStreams = RideStreams<FollowedRide, RideNews>;

export const newsView: RideView<FollowedRide, RideNews> = {
  fields: newsFields,
  complete: withReportedPosition,
  stateOf: newsOf,
  isLast: ({ isOver }) => isOver,
  // The car is moving, so a new time means a new position.
  isAlwaysNews: ({ map }) => map?.position !== undefined,
  pollMs: 2_000,
};
