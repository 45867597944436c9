import type { Context } from '../../shared/base/context.ts';
import { applyAction } from '../../shared/rides/change-ride.ts';
import { listKeyRides } from '../../shared/rides/list-rides.ts';
import { withReportedPosition } from '../../shared/rides/read-ride.ts';
import type { Operation } from '../docs/operation.ts';
import { get, list, post, type Route, rideIdOf } from '../http/route.ts';
import { queryOf } from '../http/validate.ts';
import { authenticate, authenticateForRide, originOf } from './authenticate.ts';
import type { RideCreation } from './creation.ts';
import { eventRoutes } from './event-routes.ts';
import { fareRoutes } from './fare-routes.ts';
import { handStepRoutes } from './hand-step-routes.ts';
import { bodyOf } from './ignored-fields.ts';
import { newRide } from './new-ride.ts';
import * as operations from './operations.ts';
import {
  type ListedRide,
  listedFields,
  offerFields,
  presentAccepted,
  presentCancelled,
  presentCreated,
  presentOffers,
  presentRide,
  presentRides,
  type RideWithOffers,
  type ShownRide,
  shownFields,
} from './presenters.ts';
import { acceptSchema, listSchema } from './schemas.ts';
import type { WaitingPolls } from './waiting-polls.ts';
import { withWarnings } from './warnings.ts';

/** Every route of the partner API: the service information (contract, section 2.6) and the operations (section 4). */
export function partnerRoutes(service: Context, creation: RideCreation, polls: WaitingPolls): Route[] {
  const { config } = service;
  const caller = authenticate(service);
  const findShownRide = authenticateForRide<ShownRide>(service, shownFields);
  const acceptBody = bodyOf(acceptSchema);

  const routes = [
    post(operations.createRide, {
      authenticate: caller,
      validate: newRide(config),
      replay: creation.replay,
      limit: creation.limit,
      act: creation.act,
      present: (ride) => presentCreated(config, ride),
    }),
    list(operations.listRides, {
      authenticate: caller,
      validate: (ctx, { keyId }) => ({ keyId, ...queryOf(listSchema, ctx) }),
      act: ({ keyId, limit, cursor: after, createdAfter: from, createdBefore: to, ...filter }) =>
        listKeyRides<ListedRide>(keyId, { ...filter, from, to, after }, { limit, projection: listedFields }),
      present: (page) => presentRides(config, page),
    }),
    get(operations.retrieveRide, {
      authenticate: async (ctx) => withReportedPosition(await findShownRide(ctx)),
      present: (ride) => presentRide(config, ride),
    }),
    get(operations.listOffers, {
      authenticate: authenticateForRide<RideWithOffers>(service, offerFields),
      present: presentOffers,
    }),
    post(operations.acceptOffer, {
      authenticate: caller,
      validate: async (ctx, { keyId }) => {
        const { offerId } = await acceptBody(ctx);
        return { keyId, rideId: rideIdOf(ctx), offerId, origin: originOf(ctx) };
      },
      act: ({ keyId, rideId, offerId, origin }) =>
        applyAction(service, rideId, { action: 'accept', offerId }, { keyId }, origin),
      present: presentAccepted,
    }),
    post(operations.cancelRide, {
      authenticate: caller,
      // A body is ignored.
      validate: (ctx, { keyId }) => ({ keyId, rideId: rideIdOf(ctx), origin: originOf(ctx) }),
      act: ({ keyId, rideId, origin }) =>
        applyAction(service, rideId, { action: 'cancel', by: 'partner' }, { keyId }, origin),
      present: presentCancelled,
    }),
    ...eventRoutes(service, polls),
    ...fareRoutes(service),
    ...handStepRoutes(service),
  ];

  const information = {
    name: 'Ride Partner API',
    version: 'v1',
    docs: `${config.publicBaseUrl}/docs`,
    endpoints: operations.contractOperations.map(endpointOf),
    additionalEndpoints: routes
      .map(({ operation }) => operation)
      .filter((operation) => !operations.contractOperations.includes(operation))
      .map(endpointOf),
  };
  return [...routes, get(operations.serviceInformation, { authenticate: caller, present: () => information })].map(
    withWarnings,
  );
}

const endpointOf = ({ method, path }: Operation): string => `${method} ${path}`;
