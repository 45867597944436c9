import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import type { Operation } from '../../shared/base/operation.ts';
import { get } from '../http/route.ts';
import { acceptOffer } from './accept-offer.ts';
import { cancelRide } from './cancel-ride.ts';
import { createRide } from './create-ride-operation.ts';
import { listEvents } from './list-events.ts';
import { listOffers } from './list-offers.ts';
import { listRides } from './list-rides-operation.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { raiseFare } from './raise-fare.ts';
import { fareHint } from './retrieve-fare-hint.ts';
import { retrieveRide } from './retrieve-ride.ts';
import { listRideEvents } from './ride-events.ts';

const answer = objectSchema(
  {
    name: { type: 'string', description: 'Name of the service.' },
    version: { const: 'v1', type: 'string', description: 'Version of the API.' },
    docs: { type: 'string', format: 'uri', description: 'Address of this documentation.' },
    endpoints: {
      type: 'array',
      items: { type: 'string' },
      description: 'Method and path of the five basic operations, relative to the base address.',
    },
    additionalEndpoints: {
      type: 'array',
      items: { type: 'string' },
      description: 'Method and path of every other operation. The list may grow.',
    },
  },
  { title: 'ServiceInformation' },
);

/** The five operations of the contract (sections 1 and 2.6). All others are additions (section 10). */
const contractOperations: readonly Operation[] = [createRide, retrieveRide, listOffers, acceptOffer, cancelRide];

/**
 * The additions that come first in the response, in their original order. The others are ordered as in
 * `partnerOperations`.
 */
const firstAdditions: readonly Operation[] = [listRides, listRideEvents, listEvents, raiseFare, fareHint];

/** Contract, section 2.6. */
export const serviceInformation: PartnerOperation = {
  id: 'retrieveServiceInformation',
  method: 'GET',
  path: '/',
  summary: 'Service information',
  description: 'Shows the name, version and operations of this service. A good first request with a new key.',
  tag: 'service',
  answer: {
    status: 200,
    description: 'The service.',
    schema: answer,
    example: {
      name: 'Ride Partner API',
      version: 'v1',
      docs: 'https://rides.example/docs',
      endpoints: [
        'POST /rides',
        'GET /rides/:rideId',
        'GET /rides/:rideId/offers',
        'POST /rides/:rideId/accept',
        'POST /rides/:rideId/cancel',
      ],
      additionalEndpoints: ['GET /rides', 'GET /events'],
    } satisfies Shape<typeof answer>,
  },
  errors: [],
  route({ service: { config }, findCaller, operations }) {
    const first = [...contractOperations, ...firstAdditions, serviceInformation];
    const others = operations.filter((operation) => !first.includes(operation));
    const information: Shape<typeof answer> = {
      name: 'Ride Partner API',
      version: 'v1',
      docs: `${config.publicBaseUrl}/docs`,
      endpoints: contractOperations.map(toEndpoint),
      additionalEndpoints: [...firstAdditions, ...others].map(toEndpoint),
    };
    return get(serviceInformation, { authenticate: findCaller, present: () => information });
  },
};

const toEndpoint = ({ method, path }: Operation): string => `${method} ${path}`;
