import { AppError } from '../../shared/base/errors.ts';
import { derivedEndpointId } from '../../shared/base/ids.ts';
import type { SentEvent } from '../../shared/base/terms.ts';
import { untilSettingsApply } from '../../shared/keys/delivery-settings.ts';
import { type EndpointFacts, endpointsOf, maxEndpoints } from '../../shared/keys/endpoints.ts';
import { addEndpoint, deleteEndpoint } from '../../shared/keys/manage-endpoints.ts';
import type { KeyFacts } from '../../shared/keys/manage-keys.ts';
import { checkGivenTarget } from '../../shared/targets/given-target.ts';
import { Section } from '../kit/blocks.tsx';
import { choice, fault, text } from '../kit/declared-fields.tsx';
import { DeclaredForm } from '../kit/declared-form.tsx';
import { ModePill } from '../kit/facts.tsx';
import { form } from '../kit/form.ts';
import { endpointPath } from '../kit/paths.ts';
import { type Column, Table } from '../kit/table.tsx';
import { record } from './key-records.ts';

const eventSets: readonly (readonly [string, string])[] = [
  ['offer.received,ride.status', 'offer.received and ride.status'],
  ['ride.status', 'ride.status'],
  ['offer.received,ride.status,offer.withdrawn', 'offer.received, ride.status and offer.withdrawn'],
  ['ride.status,offer.withdrawn', 'ride.status and offer.withdrawn'],
  ['offer.received', 'offer.received'],
  ['offer.withdrawn', 'offer.withdrawn'],
];
const eventChoice = choice('Events', eventSets, 'Choose the events that are sent');

/** The fields of the form that adds an endpoint. */
const endpointFields = {
  url: text(
    'URL',
    (typed, { config }) => {
      const refusal = checkGivenTarget(config, typed.trim());
      return refusal ? fault(`The URL ${refusal}`) : typed.trim();
    },
    { type: 'url', inputmode: 'url', placeholder: 'https://', mono: true },
  ),
  events: {
    ...eventChoice,
    parse: (...typed: Parameters<typeof eventChoice.parse>) => eventChoice.parse(...typed).split(',') as SentEvent[],
  },
};

/** The form that adds an endpoint. */
export const addForm = form({
  anchor: '#endpoints',
  fields: endpointFields,
  async act(request, { url, events }, { _id: keyId }: KeyFacts) {
    const { owner, sent, service } = request;
    const endpointId = derivedEndpointId(sent.id);
    try {
      await addEndpoint(service.config, { endpointId, keyId, ...owner }, { url, events });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'endpoints_full') throw error;
      return { again: 409, refusal: `${error.message}. Delete one first.`, code: error.code };
    }
    await record(request, 'endpoint_added', keyId, sent.id, endpointId);
    await untilSettingsApply(keyId);
    return { redirectTo: endpointPath(keyId, endpointId) };
  },
});

/** A form of the page of the key, because the page of a deleted endpoint cannot answer a form that is sent again. */
export const deleteForm = form({
  path: '/keys/:keyId/endpoints/:endpointId/delete',
  anchor: '#endpoints',
  confirm: ({ param }, key: KeyFacts) => ({
    about: (
      <>
        <code>{param('endpointId')}</code> of {key.name} <ModePill mode={key.mode} />
      </>
    ),
    test: key.mode === 'test',
    title: 'Delete this endpoint?',
    effects: ['Nothing more is sent to it, and its signing secret is deleted. This cannot be undone.'],
    button: 'Delete',
    keep: 'Keep the endpoint',
  }),
  async act(request, _, { _id: keyId }: KeyFacts) {
    const { owner, param, sent } = request;
    const endpointId = param('endpointId');
    // The entry is added first, because a form that is sent again after the deletion finds no endpoint.
    if ((await endpointsOf(keyId)).some(({ _id }) => _id === endpointId)) {
      await record(request, 'endpoint_deleted', keyId, sent.id, endpointId);
      await deleteEndpoint({ endpointId, keyId, ...owner });
    }
    await untilSettingsApply(keyId);
    return { done: 'endpoint-deleted' };
  },
  done: { 'endpoint-deleted': 'Deleted. Nothing more is sent to this endpoint.' },
});

/** The section of the key's page with its endpoints. */
export function FurtherEndpoints({ endpoints }: { endpoints: readonly EndpointFacts[] }) {
  return (
    <Section id="endpoints" title="Further endpoints">
      <div class="stack">
        {endpoints.length > 0 && <Table rows={endpoints} columns={endpointColumns} label="Further endpoints" />}
        <div class="card stack">
          <p class="quiet">
            Each gets its own copy of the events that you choose, signed with its own secret. A ride’s own webhookUrl
            replaces only the default URL.
          </p>
          {endpoints.length < maxEndpoints - 1 ? (
            <DeclaredForm name="endpoints" button="Add endpoint" second />
          ) : (
            <p>The key has {maxEndpoints} webhook URLs, as many as it can have.</p>
          )}
        </div>
      </div>
    </Section>
  );
}

const endpointColumns: Column<EndpointFacts>[] = [
  {
    head: 'URL',
    at: 'line-1 breakable',
    cell: ({ _id, keyId, url }) => <a href={endpointPath(keyId, _id)}>{url}</a>,
  },
  { head: 'Events', at: 'line-2 small', cell: ({ events }) => events.join(', ') },
  { head: 'State', at: 'line-3 small', cell: ({ disabledAt }) => (disabledAt ? 'off' : 'on') },
];
