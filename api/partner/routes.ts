import type { Route } from '../http/route.ts';
import { acceptOffer } from './accept-offer.ts';
import { cancelRide } from './cancel-ride.ts';
import { changeRequest } from './change-request.ts';
import { createRide } from './create-ride-operation.ts';
import { listEvents } from './list-events.ts';
import { listOffers } from './list-offers.ts';
import { listRides } from './list-rides-operation.ts';
import { downloadStatement, listStatements, retrieveStatement } from './list-statements.ts';
import { manualSteps } from './manual-steps.ts';
import type { PartnerApi, PartnerOperation } from './partner-operation.ts';
import { raiseFare } from './raise-fare.ts';
import { resendEvent } from './resend-event.ts';
import { fareHint } from './retrieve-fare-hint.ts';
import { retrieveRide } from './retrieve-ride.ts';
import { retrieveUsage } from './retrieve-usage.ts';
import { listRideEvents } from './ride-events.ts';
import { serviceInformation } from './service-information.ts';
import { tellDriver } from './tell-driver.ts';
import { withWarnings } from './warnings.ts';
import { addWebhookEndpoint, deleteWebhookEndpoint, listWebhookEndpoints } from './webhook-endpoints.ts';
import { webhookSources } from './webhook-sources.ts';

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
  partnerOperations.map((operation) => withWarnings(operation.route({ ...api, operations: partnerOperations })));
