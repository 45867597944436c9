import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { answerOf } from '../../shared/base/operation.ts';
import { get } from '../http/route.ts';
import type { PartnerOperation } from './partner-operation.ts';

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
const contractEndpoints = [
  'POST /rides',
  'GET /rides/:rideId',
  'GET /rides/:rideId/offers',
  'POST /rides/:rideId/accept',
  'POST /rides/:rideId/cancel',
];

/** The additions that come first, in their original order. The others are ordered as in `partnerOperations`. */
const firstAdditions = [
  'GET /rides',
  'GET /rides/:rideId/events',
  'GET /events',
  'POST /rides/:rideId/fare',
  'GET /fare-hint',
];

/** Contract, section 2.6. */
export const serviceInformation: PartnerOperation = {
  id: 'retrieveServiceInformation',
  method: 'GET',
  path: '/',
  summary: 'Service information',
  description: 'Shows the name, version and operations of this service. A good first request with a new key.',
  tag: 'service',
  answer: answerOf(200, 'The service.', answer, {
    name: 'Ride Partner API',
    version: 'v1',
    docs: 'https://rides.example/docs',
    endpoints: contractEndpoints,
    additionalEndpoints: ['GET /rides', 'GET /events'],
  }),
  errors: [],
  route({ service: { config }, findCaller, operations }) {
    const additions = new Set([...firstAdditions, ...operations.map(({ method, path }) => `${method} ${path}`)]);
    for (const endpoint of [...contractEndpoints, 'GET /']) additions.delete(endpoint);
    const information: Shape<typeof answer> = {
      name: 'Ride Partner API',
      version: 'v1',
      docs: `${config.publicBaseUrl}/docs`,
      endpoints: contractEndpoints,
      additionalEndpoints: [...additions],
    };
    return get({ authenticate: findCaller, present: () => information });
  },
};

const sourceList = objectSchema(
  {
    addresses: {
      type: 'array',
      items: { type: 'string' },
      description: 'IPv4 and IPv6 addresses and ranges in CIDR notation. Empty if they are not fixed.',
    },
  },
  { title: 'WebhookSources' },
);

/** Contract, section 10.9. */
export const webhookSources: PartnerOperation = {
  id: 'listWebhookSources',
  method: 'GET',
  path: '/webhook-sources',
  summary: 'List the source addresses of webhooks',
  description:
    'Lists the addresses from which we send events, for the firewall in front of your receiver. The list can change, so read it again from time to time. The list does not replace [verifying the signature](https://rides.example/docs/webhooks#verify-the-signature).',
  tag: 'service',
  answer: answerOf(200, 'The addresses.', sourceList, { addresses: ['203.0.113.10', '2001:db8:1::/64'] }),
  errors: [],
  route: ({ service: { config }, findCaller }) =>
    get({
      authenticate: findCaller,
      present: (): Shape<typeof sourceList> => ({ addresses: [...config.egressAddresses] }),
    }),
};
