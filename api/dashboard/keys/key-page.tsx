import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import { type CreationLimit, contractLimit } from '../../../shared/keys/api-key.ts';
import type { KeyFacts } from '../../../shared/keys/manage-keys.ts';
import { Fact, LinkButton, Secret } from '../../../web/kit/blocks.tsx';
import { Id, ModePill, Time } from '../../../web/kit/facts.tsx';
import { ChangeForm, FaultSummary, type Faults, TextField } from '../../../web/kit/forms.tsx';
import { FailingBanner, type FailureStreak, RideCount, TimeOrNever } from '../../../web/kit/key-parts.tsx';
import { deliveriesOfKeyPath, keyPath } from '../../../web/kit/paths.ts';
import { dashboardPage, PageHead } from '../frame.tsx';

/** The confirmation of the last action, or the reason why it was refused. */
const doneWords = {
  renamed: 'Renamed.',
  'url-saved': 'Saved. The next event is sent to this URL.',
  'url-removed': 'Webhook URL removed. Only rides with their own webhookUrl send events now.',
  'rolled-before': 'This form was sent before. “Show signing secret” shows the current secret.',
  'too-many-test-events': 'At most 10 test events a minute can be sent. Wait a minute, then send the next one.',
} as const;
export type DoneName = keyof typeof doneWords;
const refusals: readonly string[] = ['too-many-test-events'] satisfies DoneName[];

/** The result of an action, shown on the key's page. */
export interface KeyPageState {
  faults?: Faults;
  typed?: { name?: string; webhookUrl?: string };
  signingSecret?: string;
  /** The signing secret has just been rolled. */
  rolled?: boolean;
  /** The name of the action that was done; unknown names are ignored. */
  done?: string;
}

interface KeyPageProps extends KeyPageState {
  account: CurrentAccount;
  key: KeyFacts;
  ridesCreated: number;
  /** The addresses from which webhooks are sent; empty if they are not fixed. */
  egressAddresses?: readonly string[];
  failing?: FailureStreak;
}

/** One key: its facts and its actions. */
export function keyPage({ account, key, ...props }: KeyPageProps): string {
  const { failing, faults = {}, signingSecret } = props;
  const suspendedAt = key.accountSuspendedAt ?? key.suspendedAt;
  const canChange = !key.revokedAt && !account.suspendedAt;
  return dashboardPage({
    title: key.name,
    account,
    section: 'keys',
    test: key.mode === 'test',
    hasErrors: Object.keys(faults).length > 0,
    scripts: signingSecret ? ['secret-page.js'] : [],
    children: (
      <>
        <PageHead
          title={key.name}
          actions={
            canChange && (
              <>
                <LinkButton to={`${keyPath(key._id)}/rotate`}>Rotate</LinkButton>
                <LinkButton to={`${keyPath(key._id)}/revoke`} danger>
                  Revoke
                </LinkButton>
              </>
            )
          }
        />
        <Done name={props.done} />
        <FaultSummary faults={faults} />
        {failing && !key.revokedAt && <FailingBanner keyId={key._id} failing={failing} />}
        {key.revokedAt && (
          <div class="notice bad">
            <p>
              <strong>Revoked</strong> <Time at={key.revokedAt} />. Requests with this key are answered 401. Active
              rides continue, and their events are still sent.
            </p>
          </div>
        )}
        {suspendedAt && !key.revokedAt && (
          <div class="notice bad">
            <p>
              <strong>Suspended</strong> by the operator <Time at={suspendedAt} />
              {key.accountSuspendedAt && ', with the whole account'}. Requests with this key are answered 401. Active
              rides continue, and their events are still sent.
            </p>
          </div>
        )}
        <KeyCard apiKey={key} {...props} />
        {canChange && (
          <>
            <Webhook apiKey={key} {...props} />
            <SigningSecret apiKey={key} {...props} />
            <Name apiKey={key} {...props} />
          </>
        )}
      </>
    ),
  });
}

/** The property is called `apiKey`, because preact reserves the name `key`. */
type PartProps = Omit<KeyPageProps, 'account' | 'key'> & { apiKey: KeyFacts };

function Done({ name = '' }: { name?: string }) {
  if (!Object.hasOwn(doneWords, name)) return null;
  const isRefusal = refusals.includes(name);
  return (
    <p class={isRefusal ? 'notice bad' : 'notice good'} role={isRefusal ? 'alert' : 'status'} tabIndex={-1} data-focus>
      {doneWords[name as DoneName]}
    </p>
  );
}

function KeyCard({ apiKey, ridesCreated }: PartProps) {
  return (
    <dl class="card facts">
      <Fact name="Mode">
        <ModePill mode={apiKey.mode} />
      </Fact>
      <Fact name="Key">
        <code>{apiKey.hint.replace('...', '…')}</code>
      </Fact>
      <Fact name="Key id">
        <Id id={apiKey._id} />
      </Fact>
      <Fact name="Created">
        <Time at={apiKey.createdAt} />
      </Fact>
      {apiKey.rotatedAt && (
        <Fact name="Rotated">
          <Time at={apiKey.rotatedAt} />
        </Fact>
      )}
      <Fact name="Last used">
        <TimeOrNever at={apiKey.lastUsedAt} />
      </Fact>
      <Fact name="Limit">
        {limitWords(apiKey.limit ?? contractLimit)}
        {apiKey.limit && ', set by the operator'}
      </Fact>
      <Fact name="Rides created">
        <RideCount keyId={apiKey._id} count={ridesCreated} />
      </Fact>
    </dl>
  );
}

const limitWords = ({ perMinute, perHour }: CreationLimit): string =>
  `${perMinute.toLocaleString('en')} rides in 60 seconds, ${perHour.toLocaleString('en')} in an hour`;

function Webhook({ apiKey, faults, typed, egressAddresses = [] }: PartProps) {
  return (
    <section class="section" aria-labelledby="webhook">
      <h2 id="webhook">Webhook</h2>
      <div class="card stack">
        <ChangeForm action={`${keyPath(apiKey._id)}/webhook-url`} class="form inline">
          <TextField
            name="webhookUrl"
            label="Default webhook URL"
            hint="Events of rides without their own webhookUrl are sent here. Leave it empty to send none."
            type="url"
            inputmode="url"
            placeholder="https://"
            value={typed?.webhookUrl ?? apiKey.webhookUrl}
            faults={faults}
            mono
          />
          <button class="btn" type="submit">
            Save
          </button>
        </ChangeForm>
        <div class="row">
          <ChangeForm action={`${keyPath(apiKey._id)}/test-event`}>
            <button class="btn second" type="submit" aria-describedby="test-event-hint">
              Send test event
            </button>
          </ChangeForm>
          <p class="hint" id="test-event-hint">
            Sends a sample ride.status event to the saved URL and shows the answer.
          </p>
          <a href={deliveriesOfKeyPath(apiKey._id)}>Deliveries of this key</a>
        </div>
        {egressAddresses.length > 0 && (
          <p class="hint">
            Events come from <code>{egressAddresses.join(', ')}</code>.
          </p>
        )}
      </div>
    </section>
  );
}

function SigningSecret({ apiKey, signingSecret, rolled }: PartProps) {
  return (
    <section class="section" aria-labelledby="secret">
      <h2 id="secret">Signing secret</h2>
      <div class="card stack">
        {rolled ? (
          <p>
            <strong>Rolled.</strong> From now on, events are signed with this secret.
          </p>
        ) : (
          <p class="quiet">Every event is signed with it, so your server can verify that the event comes from us.</p>
        )}
        {signingSecret && (
          <Secret
            text={signingSecret}
            what="signing secret"
            testId="signing-secret"
            leave={keyPath(apiKey._id)}
            focused
          />
        )}
        <div class="row">
          {signingSecret ? (
            <a class="btn second" href={keyPath(apiKey._id)}>
              Hide
            </a>
          ) : (
            <ChangeForm action={`${keyPath(apiKey._id)}/signing-secret#secret`}>
              <button class="btn second" type="submit">
                Show signing secret
              </button>
            </ChangeForm>
          )}
          <LinkButton to={`${keyPath(apiKey._id)}/roll-secret`} danger>
            Roll signing secret
          </LinkButton>
          <a href="/dashboard/signature">Check a signature</a>
        </div>
      </div>
    </section>
  );
}

function Name({ apiKey, faults, typed }: PartProps) {
  return (
    <section class="section" aria-label="Rename">
      <div class="card">
        <ChangeForm action={`${keyPath(apiKey._id)}/name`} class="form inline">
          <TextField name="name" label="Name" value={typed?.name ?? apiKey.name} faults={faults} />
          <button class="btn second" type="submit">
            Rename
          </button>
        </ChangeForm>
      </div>
    </section>
  );
}
