import type { CurrentAccount } from '../../shared/accounts/members.ts';
import { type CreationLimit, contractLimit } from '../../shared/keys/api-key.ts';
import type { EndpointFacts } from '../../shared/keys/endpoints.ts';
import type { KeyFacts } from '../../shared/keys/manage-keys.ts';
import type { Document } from '../kit/answer.ts';
import { ButtonLink, Facts, Secret, Section } from '../kit/blocks.tsx';
import { AskButton, DeclaredForm } from '../kit/declared-form.tsx';
import { Id, ModePill, Time } from '../kit/facts.tsx';
import { FailingBanner, type FailureStreak, RideCount, TimeOrNever } from '../kit/key-parts.tsx';
import { deliveriesOfKeyPath, keyPath } from '../kit/paths.ts';
import { FurtherEndpoints } from './further-endpoints.tsx';

interface KeyData {
  account: CurrentAccount;
  key: KeyFacts;
  ridesCreated: number;
  /** The addresses from which webhooks are sent; empty if they are not fixed. */
  egressAddresses?: readonly string[];
  /** True if the service can send text messages. */
  texts: boolean;
  failing?: FailureStreak;
  /** The further webhook URLs. */
  endpoints: readonly EndpointFacts[];
  signingSecret?: string;
  /** The signing secret has just been rolled. */
  rolled?: boolean;
}

/** One key: its facts and its actions. */
export function keyView(data: KeyData): Document {
  const { account, key, failing, signingSecret } = data;
  const suspendedAt = key.accountSuspendedAt ?? key.suspendedAt;
  const canChange = !key.revokedAt && !account.suspendedAt;
  const effects = 'Requests with this key are answered 401. Active rides continue, and their events are still sent.';
  return {
    title: key.name,
    test: key.mode === 'test',
    scripts: signingSecret ? ['secret-page.js'] : [],
    actions: canChange && (
      <>
        <AskButton name="rotate" button="Rotate" second />
        <AskButton name="revoke" button="Revoke" danger />
      </>
    ),
    children: (
      <>
        {failing && !key.revokedAt && <FailingBanner keyId={key._id} failing={failing} />}
        {key.revokedAt && (
          <div class="notice bad">
            <p>
              <strong>Revoked</strong> <Time at={key.revokedAt} />. {effects}
            </p>
          </div>
        )}
        {suspendedAt && !key.revokedAt && (
          <div class="notice bad">
            <p>
              <strong>Suspended</strong> by the operator <Time at={suspendedAt} />
              {key.accountSuspendedAt && ', with the whole account'}. {effects}
            </p>
          </div>
        )}
        {keyCard(data)}
        {canChange && (
          <>
            {webhook(data)}
            <FurtherEndpoints endpoints={data.endpoints} />
            {data.texts && texting(data)}
            {signingSecretOf(data)}
            <section class="section" aria-label="Rename">
              <div class="card">
                <DeclaredForm name="name" values={{ name: key.name }} button="Rename" second />
              </div>
            </section>
          </>
        )}
      </>
    ),
  };
}

function keyCard({ key, ridesCreated }: KeyData) {
  return (
    <Facts
      class="card facts"
      of={[
        ['Mode', <ModePill mode={key.mode} />],
        ['Key', <code>{key.hint.replace('...', '…')}</code>],
        ['Key id', <Id id={key._id} />],
        ['Created', <Time at={key.createdAt} />],
        ['Rotated', key.rotatedAt && <Time at={key.rotatedAt} />],
        ['Last used', <TimeOrNever at={key.lastUsedAt} />],
        ['Limit', limitWords(key.limit ?? contractLimit) + (key.limit ? ', set by the operator' : '')],
        ['Rides created', <RideCount keyId={key._id} count={ridesCreated} />],
      ]}
    />
  );
}

const limitWords = ({ perMinute, perHour }: CreationLimit): string =>
  `${perMinute.toLocaleString('en')} rides in 60 seconds, ${perHour.toLocaleString('en')} in an hour`;

function webhook({ key, egressAddresses = [] }: KeyData) {
  return (
    <Section id="webhook" title="Webhook">
      <div class="card stack">
        <DeclaredForm name="webhook-url" values={{ webhookUrl: key.webhookUrl }} button="Save" />
        <div class="row">
          <DeclaredForm name="test-event" button="Send test event" second about="test-event-hint" />
          <p class="hint" id="test-event-hint">
            Sends a sample ride.status event to the saved URL and shows the answer.
          </p>
          <a href={deliveriesOfKeyPath(key._id)}>Deliveries of this key</a>
        </div>
        {egressAddresses.length > 0 && (
          <p class="hint">
            Events come from <code>{egressAddresses.join(', ')}</code>.
          </p>
        )}
      </div>
    </Section>
  );
}

function texting({ key }: KeyData) {
  return (
    <Section id="texting" title="Text messages">
      <div class="card stack">
        <DeclaredForm name="texting" values={{ texting: key.textsPassenger ? 'yes' : 'no' }} button="Save" />
        <p class="hint">
          Passengers are told when a driver is found, when the car is there, and if the ride is cancelled.{' '}
          <a href="/docs/messages">What is sent</a>
        </p>
      </div>
    </Section>
  );
}

function signingSecretOf({ key: { _id }, signingSecret, rolled }: KeyData) {
  const page = keyPath(_id);
  return (
    <Section id="secret" title="Signing secret">
      <div class="card stack">
        {rolled ? (
          <p>
            <strong>Rolled.</strong> From now on, events are signed with this secret.
          </p>
        ) : (
          <p class="quiet">Every event is signed with it, so your server can verify that the event comes from us.</p>
        )}
        {signingSecret && (
          <Secret text={signingSecret} what="signing secret" testId="signing-secret" leave={page} focused />
        )}
        <div class="row">
          {signingSecret ? (
            <ButtonLink to={page}>Hide</ButtonLink>
          ) : (
            <DeclaredForm name="signing-secret" button="Show signing secret" second />
          )}
          <AskButton name="roll-secret" button="Roll signing secret" danger />
          <a href="/dashboard/signature">Check a signature</a>
        </div>
      </div>
    </Section>
  );
}
