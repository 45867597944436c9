import type { Route } from '../http/route.ts';
import { declineRequest } from './decline-request.ts';
import type { DriverApi, DriverOperation } from './driver-operation.ts';
import { goOffline } from './go-offline.ts';
import { goOnline } from './go-online.ts';
import { listRequests } from './list-requests.ts';
import { makeOffer } from './make-offer.ts';
import { markSeen } from './mark-seen.ts';
import { reportPosition } from './report-position.ts';
import { showOutcome } from './show-outcome.ts';
import { showOwnRide } from './show-own-ride.ts';
import { showProfile } from './show-profile.ts';
import { showTrips } from './show-trips.ts';
import { streamDriver } from './stream.ts';
import { driverSteps } from './take-step.ts';
import { withdrawOffer } from './withdraw-offer.ts';

/** Every operation of the drivers' gateway, in the order of the reference. */
export const driverOperations: readonly DriverOperation[] = [
  showProfile,
  goOnline,
  goOffline,
  reportPosition,
  listRequests,
  showOutcome,
  makeOffer,
  withdrawOffer,
  declineRequest,
  showOwnRide,
  ...driverSteps,
  markSeen,
  showTrips,
  streamDriver,
];

export const driverRoutes = (api: DriverApi): Route[] => driverOperations.map((operation) => operation.route(api));
