import { AppError } from '../../shared/base/errors.ts';
import { untilSettingsApply } from '../../shared/keys/delivery-settings.ts';
import { type EndpointFacts, findEndpoint, type OwnedEndpoint } from '../../shared/keys/endpoints.ts';
import { rollEndpointSecret, turnEndpoint, viewEndpointSecret } from '../../shared/keys/manage-endpoints.ts';
import { findKey, type KeyFacts } from '../../shared/keys/manage-keys.ts';
import { secretVersion } from '../../shared/keys/replace-secret.ts';
import { sendTestEvent } from '../../shared/webhooks/test-event.ts';
import { ButtonLink, Facts, LinkButton, Secret, Section } from '../kit/blocks.tsx';
import { AskButton, DeclaredForm } from '../kit/declared-form.tsx';
import { Id, ModePill, Time } from '../kit/facts.tsx';
import { form } from '../kit/form.ts';
import { page } from '../kit/page.tsx';
import { attemptPath, deliveriesOfKeyPath, endpointPath, keyPath } from '../kit/paths.ts';
import { builders } from '../kit/roles.ts';
import { record } from './key-records.ts';

interface Subject {
  key: KeyFacts;
  endpoint: EndpointFacts;
}

const owned = ({ endpoint: { _id: endpointId, keyId, accountId } }: Subject): OwnedEndpoint => ({
  endpointId,
  keyId,
  accountId,
});

/** The page of a further webhook URL of a key, and its actions. */
export const endpoint = page('/keys/:keyId/endpoints/:endpointId', {
  section: 'keys',
  roles: builders,
  async find({ param, owner }): Promise<Subject> {
    const [keyId, endpointId] = [param('keyId'), param('endpointId')];
    return { key: await findKey(keyId, owner), endpoint: await findEndpoint({ endpointId, keyId, ...owner }) };
  },
  isClosed: ({ key }) => key.revokedAt,
  read: ({ account }, subject) => ({ ...subject, canChange: !subject.key.revokedAt && !account.suspendedAt }),
  view: endpointView,
  forms: {
    'test-event': form({
      async act({ owner, requestId, sent, service }, _, { endpoint }: Subject) {
        try {
          const requester = { ...owner, requestId, form: sent.id, endpointId: endpoint._id };
          return { redirectTo: attemptPath(await sendTestEvent(service, endpoint.keyId, requester)) };
        } catch (error) {
          if (!(error instanceof AppError) || error.status !== 429) throw error;
          const refusal = 'At most 10 test events a minute can be sent. Wait a minute, then send the next one.';
          return { again: 429, refusal, headers: error.headers };
        }
      },
    }),
    'turn-off': form({
      act: (request, _, subject: Subject) => turn('off', request, subject),
      done: { off: 'Turned off. Nothing more is sent to it.' },
    }),
    'turn-on': form({
      act: (request, _, subject: Subject) => turn('on', request, subject),
      done: { on: 'Turned on. Later events are sent to it.' },
    }),
    'signing-secret': form({
      anchor: '#secret',
      recentCode: () => [],
      async act(request, _, subject: Subject) {
        const { endpointId, keyId } = owned(subject);
        const signingSecret = await viewEndpointSecret(request.service.config, owned(subject));
        // Viewing the secret with the same form in another session is a second view.
        await record(request, 'signing_secret_viewed', keyId, `${request.sent.id} ${request.sent.session}`, endpointId);
        return { again: 200, show: { signingSecret } };
      },
    }),
    'roll-secret': form({
      anchor: '#secret',
      recentCode: () => [],
      confirm: (_, { key, endpoint }: Subject) =>
        key.revokedAt
          ? null
          : {
              about: (
                <>
                  <code>{endpoint.url}</code> of {key.name} <ModePill mode={key.mode} />
                </>
              ),
              test: key.mode === 'test',
              title: 'Roll the signing secret?',
              effects: [
                'From now on, events for this endpoint are signed with a new secret.',
                'A receiver that checks signatures refuses events until it has the new one.',
              ],
              button: 'Roll signing secret',
              keep: 'Keep the secret',
              hidden: { seen: secretVersion.roll(endpoint) },
            },
      async act(request, _, subject: Subject) {
        const { endpointId, keyId } = owned(subject);
        const { service, sent, text } = request;
        try {
          const signingSecret = await rollEndpointSecret(service.config, owned(subject), {
            id: sent.id,
            seen: text('seen'),
          });
          await record(request, 'signing_secret_rolled', keyId, sent.id, endpointId);
          await untilSettingsApply(keyId);
          return { again: 200, show: { signingSecret, rolled: true } };
        } catch (error) {
          if (!(error instanceof AppError) || error.code !== 'key_changed') throw error;
          return { again: error.status, refusal: error.message, code: error.code };
        }
      },
    }),
  },
});

async function turn(state: 'on' | 'off', request: Parameters<typeof record>[0], subject: Subject) {
  const { endpointId, keyId } = owned(subject);
  await turnEndpoint(state, owned(subject), request.sent.id);
  await record(request, `endpoint_turned_${state}`, keyId, request.sent.id, endpointId);
  await untilSettingsApply(keyId);
  return { done: state };
}

interface EndpointData extends Subject {
  canChange: boolean;
  signingSecret?: string;
  /** The signing secret has just been rolled. */
  rolled?: boolean;
}

function endpointView({ key, endpoint, canChange, signingSecret, rolled }: EndpointData) {
  const { _id, url, events, createdAt, disabledAt } = endpoint;
  const path = endpointPath(key._id, _id);
  return {
    title: 'Webhook endpoint',
    test: key.mode === 'test',
    scripts: signingSecret ? ['secret-page.js'] : [],
    lead: (
      <p>
        A further webhook URL of <a href={keyPath(key._id)}>{key.name}</a> <ModePill mode={key.mode} />
      </p>
    ),
    actions: canChange && (
      <LinkButton to={`${path}/delete`} danger>
        Delete
      </LinkButton>
    ),
    children: (
      <>
        <Facts
          class="card facts"
          of={[
            ['URL', <code>{url}</code>],
            ['Events', events.join(', ')],
            ['State', disabledAt ? ['turned off ', <Time at={disabledAt} />] : 'on'],
            ['Endpoint id', <Id id={_id} />],
            ['Added', <Time at={createdAt} />],
          ]}
        />
        {canChange && (
          <Section id="sending" title="Sending">
            <div class="card row">
              {disabledAt ? (
                <DeclaredForm name="turn-on" button="Turn on" />
              ) : (
                <>
                  <DeclaredForm name="test-event" button="Send test event" second />
                  <DeclaredForm name="turn-off" button="Turn off" second />
                </>
              )}
              <a href={deliveriesOfKeyPath(key._id)}>Deliveries of the key</a>
            </div>
          </Section>
        )}
        {canChange && (
          <Section id="secret" title="Signing secret">
            <div class="card stack">
              <p class="quiet">
                {rolled
                  ? 'Rolled. From now on, events for this endpoint are signed with this secret.'
                  : 'What is sent to this endpoint is signed with it, and with no other secret.'}
              </p>
              {signingSecret && (
                <Secret text={signingSecret} what="signing secret" testId="signing-secret" leave={path} focused />
              )}
              <div class="row">
                {signingSecret ? (
                  <ButtonLink to={path}>Hide</ButtonLink>
                ) : (
                  <DeclaredForm name="signing-secret" button="Show signing secret" second />
                )}
                <AskButton name="roll-secret" button="Roll signing secret" danger />
              </div>
            </div>
          </Section>
        )}
      </>
    ),
  };
}
