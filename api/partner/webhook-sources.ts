import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { get } from '../http/route.ts';
import type { PartnerOperation } from './partner-operation.ts';

const answer = objectSchema(
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
  answer: {
    status: 200,
    description: 'The addresses.',
    schema: answer,
    example: { addresses: ['203.0.113.10', '2001:db8:1::/64'] } satisfies Shape<typeof answer>,
  },
  errors: [],
  route: ({ service: { config }, findCaller }) =>
    get(webhookSources, {
      authenticate: findCaller,
      present: (): Shape<typeof answer> => ({ addresses: [...config.egressAddresses] }),
    }),
};
