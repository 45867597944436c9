import Joi from 'joi';
import { audit } from '../../shared/accounts/audit.ts';
import type { Config } from '../../shared/base/config.ts';
import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { newEndpointId } from '../../shared/base/ids.ts';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { timeLimit } from '../../shared/base/mongo/durability.ts';
import { answerOf, bodySchema } from '../../shared/base/operation.ts';
import { contractEvents, type SentEvent, sentEvents } from '../../shared/base/terms.ts';
import { keys } from '../../shared/keys/api-key.ts';
import { untilSettingsApply } from '../../shared/keys/delivery-settings.ts';
import { type Endpoint, endpointsOf, type OwnedEndpoint } from '../../shared/keys/endpoints.ts';
import { addEndpoint, deleteEndpoint } from '../../shared/keys/manage-endpoints.ts';
import { endpointId } from '../../shared/rides/public-schemas.ts';
import { clientAddress } from '../http/forwarded.ts';
import { inSteps, paramOf } from '../http/route.ts';
import { choice } from '../rides/field-types.ts';
import { targetUrl } from '../rides/new-ride.ts';
import { bodyOf } from './ignored-fields.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { success } from './request-fields.ts';

const url = { type: 'string', description: 'The URL to which the events are sent.' } as const;
const sentEvent = { title: 'SentEvent', type: 'string', enum: sentEvents } as const;
const events = {
  type: 'array',
  items: sentEvent,
  description: 'The events that are sent to it.',
} as const;
const enabled = { type: 'boolean', description: '`false` while it is turned off in the dashboard.' } as const;

const shownEndpoint = objectSchema({ endpointId, url, events, enabled }, { title: 'WebhookEndpoint' });
type ShownEndpoint = Pick<Endpoint, '_id' | 'url' | 'events' | 'disabledAt'>;
const present = ({ _id, url, events, disabledAt }: ShownEndpoint): Shape<typeof shownEndpoint> => ({
  endpointId: _id,
  url,
  events,
  enabled: !disabledAt,
});

const listed = objectSchema(
  {
    endpoints: {
      type: 'array',
      items: shownEndpoint,
      description: 'The default URL of the key first, if it has one: its `endpointId` is `default`.',
    },
  },
  { title: 'WebhookEndpointList' },
);

const exampleDefault: Shape<typeof shownEndpoint> = {
  endpointId: 'default',
  url: 'https://partner.example/rides/events',
  events: [...contractEvents],
  enabled: true,
};
const exampleEndpoint: Shape<typeof shownEndpoint> = {
  endpointId: endpointId.examples[0],
  url: 'https://billing.partner.example/events',
  events: ['ride.status', 'offer.withdrawn'],
  enabled: true,
};

/** Contract, section 10.22. */
export const listWebhookEndpoints: PartnerOperation = {
  id: 'listWebhookEndpoints',
  method: 'GET',
  path: '/webhook-endpoints',
  summary: 'List your webhook endpoints',
  description: 'Lists the URLs to which events of this key are sent.',
  tag: 'endpoints',
  answer: answerOf(200, 'The endpoints.', listed, { endpoints: [exampleDefault, exampleEndpoint] }),
  errors: [],
  route: ({ findCaller }) =>
    inSteps(listWebhookEndpoints, {
      authenticate: findCaller,
      validate: (_ctx, { keyId }) => keyId,
      async act(keyId) {
        const [key, further] = await Promise.all([
          keys.findOne({ _id: keyId }, { projection: { webhookUrl: 1 }, ...timeLimit() }),
          endpointsOf(keyId),
        ]);
        const first = key?.webhookUrl ? [{ _id: 'default', url: key.webhookUrl, events: [...contractEvents] }] : [];
        return [...first, ...further];
      },
      present: (endpoints): Shape<typeof listed> => ({ endpoints: endpoints.map(present) }),
    }),
};

const newEndpoint = (config: Pick<Config, 'environment' | 'webhookLocalTargets'>) =>
  bodySchema<{ url: string; events: SentEvent[] }>('NewWebhookEndpoint', {
    url: targetUrl(config).empty().required().description('Where to send the events. HTTPS, to a public address.'),
    events: Joi.array()
      .items(choice(sentEvent))
      .unique()
      .empty(null)
      .default([...contractEvents])
      .description('The events to send. Default, also for an empty list: `offer.received` and `ride.status`.'),
  });

const added = objectSchema(
  {
    success,
    ...shownEndpoint.properties,
    signingSecret: {
      type: 'string',
      description: 'The secret that signs what is sent to this endpoint. Store it: the API does not show it again.',
    },
  },
  { title: 'WebhookEndpointAdded' },
);

/** Contract, section 10.22. */
export const addWebhookEndpoint: PartnerOperation = {
  id: 'addWebhookEndpoint',
  method: 'POST',
  path: '/webhook-endpoints',
  summary: 'Add a webhook endpoint',
  description:
    'Adds a URL that gets its own copy of the events that you choose, signed with its own secret. A key has at most 5 webhook URLs, the default one included. Events that happen after the answer are sent to it.\n\nNot idempotent: if the answer is lost, list the endpoints and delete the one that you do not know.',
  tag: 'endpoints',
  body: {
    // Only the checks of `url` depend on the settings.
    schema: newEndpoint({ environment: 'production', webhookLocalTargets: [] }),
    examples: { 'A second receiver': { url: exampleEndpoint.url, events: exampleEndpoint.events } },
  },
  answer: answerOf(201, 'The endpoint is added.', added, {
    success: true,
    ...exampleEndpoint,
    signingSecret: 'whsec_example0000000000000000000000',
  }),
  errors: ['endpoints_full', 'payload_too_large'],
  route({ service, findCaller }) {
    const body = bodyOf(newEndpoint(service.config));
    return inSteps(addWebhookEndpoint, {
      authenticate: findCaller,
      validate: async (ctx, { keyId, accountId }) => ({ ...(await body(ctx)), keyId, accountId }),
      async act({ url, events, keyId, accountId }, ctx) {
        const owned = { endpointId: newEndpointId(), keyId, accountId };
        const wanted = events.length > 0 ? events : [...contractEvents];
        const made = await addEndpoint(service.config, owned, { url, events: wanted });
        if (!made) throw new AppError('internal');
        await finishChange(service, 'endpoint_added', owned, clientAddress(ctx, service));
        return made;
      },
      present: ({ endpoint, signingSecret }): Shape<typeof added> => ({
        success: true,
        ...present(endpoint),
        signingSecret,
      }),
    });
  },
};

const deleted = objectSchema({ success, endpointId }, { title: 'WebhookEndpointDeleted' });

/** Contract, section 10.22. */
export const deleteWebhookEndpoint: PartnerOperation = {
  id: 'deleteWebhookEndpoint',
  method: 'DELETE',
  path: '/webhook-endpoints/:endpointId',
  summary: 'Delete a webhook endpoint',
  description:
    'Deletes an endpoint and its secret. After the answer, nothing is sent to it; what still waits is recorded as failed. The default URL is changed in the dashboard.',
  tag: 'endpoints',
  answer: answerOf(200, 'The endpoint is deleted.', deleted, { success: true, endpointId: endpointId.examples[0] }),
  errors: ['endpoint_not_found'],
  route: ({ service, findCaller }) =>
    inSteps(deleteWebhookEndpoint, {
      authenticate: findCaller,
      validate: (ctx, { keyId, accountId }) => ({ endpointId: paramOf(ctx, 'endpointId'), keyId, accountId }),
      async act(owned, ctx) {
        if (!(await deleteEndpoint(owned))) throw new AppError('endpoint_not_found');
        await finishChange(service, 'endpoint_deleted', owned, clientAddress(ctx, service));
        return owned;
      },
      present: ({ endpointId }): Shape<typeof deleted> => ({ success: true, endpointId }),
    }),
};

/** Adds an entry to the audit list of the account, and waits until deliveries use the new settings. */
async function finishChange(
  { now }: Pick<Context, 'now'>,
  action: 'endpoint_added' | 'endpoint_deleted',
  { endpointId, ...key }: OwnedEndpoint,
  from: string,
): Promise<void> {
  await audit({ action, about: endpointId, member: 'the API key', ...key, from }, now());
  await untilSettingsApply(key.keyId);
}
