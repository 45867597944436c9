import type { Route } from '../http/route.ts';
import { goOffline, goOnline, reportPosition } from './availability-operations.ts';
import type { DriverApi, DriverOperation } from './driver-operation.ts';
import { declineRequest, makeOffer, withdrawOffer } from './offer-operations.ts';
import { showOwnRide, streamDriver } from './own-ride-operations.ts';
import { listRequests, showOutcome } from './request-operations.ts';
import { showProfile } from './show-profile.ts';
import { showTrips } from './show-trips.ts';
import { driverSteps, markSeen } from './step-operations.ts';

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

export const driverRoutes = (api: DriverApi): Route[] =>
  driverOperations.map(({ method, path, route }) => ({ method, path, handle: route(api) }));
