import type { Route } from '../http/route.ts';
import { createRide } from './create-ride-operation.ts';
import { listEvents } from './list-events.ts';
import { listOffers } from './list-offers.ts';
import { listRides } from './list-rides-operation.ts';
import { downloadStatement, listStatements, retrieveStatement } from './list-statements.ts';
import { manualSteps } from './manual-steps.ts';
import type { PartnerApi, PartnerOperation } from './partner-operation.ts';
import { fareHint } from './retrieve-fare-hint.ts';
import { retrieveRide } from './retrieve-ride.ts';
import { retrieveUsage } from './retrieve-usage.ts';
import { listRideEvents, resendEvent } from './ride-events.ts';
import { acceptOffer, cancelRide, changeRequest, raiseFare, tellDriver } from './ride-operations.ts';
import { serviceInformation, webhookSources } from './service-information.ts';
import { withWarnings } from './warnings.ts';
import { addWebhookEndpoint, deleteWebhookEndpoint, listWebhookEndpoints } from './webhook-endpoints.ts';

/** Every operation of the partner API (contract, sections 4 and 10), in the order of the reference. */
export const partnerOperations: readonly PartnerOperation[] = [
  createRide,
  listRides,
  retrieveRide,
  listOffers,
  acceptOffer,
  changeRequest,
  raiseFare,
  cancelRide,
  tellDriver,
  fareHint,
  listEvents,
  listRideEvents,
  resendEvent,
  listWebhookEndpoints,
  addWebhookEndpoint,
  deleteWebhookEndpoint,
  listStatements,
  retrieveStatement,
  downloadStatement,
  retrieveUsage,
  ...manualSteps,
  webhookSources,
  serviceInformation,
];

export const partnerRoutes = (api: Omit<PartnerApi, 'operations'>): Route[] =>
  partnerOperations.map(({ method, path, query, route }) => ({
    method,
    path,
    handle: withWarnings(query, route({ ...api, operations: partnerOperations })),
  }));
