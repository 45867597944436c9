import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { KeyFacts, NewKey } from '../../../shared/keys/manage-keys.ts';
import { CodeBlock, LinkButton, Secret } from '../../../web/kit/blocks.tsx';
import { ModePill, Time } from '../../../web/kit/facts.tsx';
import { ChangeForm } from '../../../web/kit/forms.tsx';
import { consolePath, keyPath, keysPath } from '../../../web/kit/paths.ts';
import { creationAsCurl, firstValues, type RideField, requestBody } from '../../../web/kit/ride-request.ts';
import { dashboardPage, PageHead } from '../frame.tsx';

/** The two actions that create a secret key and show it. */
type ShownAt = 'creation' | 'rotation';

type ShownKey = Pick<NewKey, 'keyId' | 'key' | 'name' | 'mode'>;

interface KeyShownPageProps {
  account: CurrentAccount;
  key: ShownKey;
  shownAt: ShownAt;
  publicBaseUrl: string;
}

/** The one page that shows a secret key (contract, section 5.4). */
export function keyShownPage({ account, key, shownAt, publicBaseUrl }: KeyShownPageProps): string {
  const title = shownAt === 'creation' ? 'Key created' : 'Key rotated';
  return dashboardPage({
    title,
    account,
    section: 'keys',
    test: key.mode === 'test',
    scripts: ['secret-page.js'],
    children: (
      <>
        <PageHead title={title}>
          <p>
            {key.name} <ModePill mode={key.mode} />
          </p>
        </PageHead>
        <section class="notice good shown-once" aria-labelledby="copy-now" tabIndex={-1} data-focus>
          <h2 id="copy-now">Copy the key now</h2>
          <p>It will not be shown again. Store it where your server stores its secrets, and nowhere else.</p>
          <Secret text={key.key} what="key" testId="new-key" leave={keyPath(key.keyId)} />
          {shownAt === 'rotation' && <p>The old key has stopped working.</p>}
        </section>
        {shownAt === 'creation' && key.mode === 'test' && <FirstRide shownKey={key} publicBaseUrl={publicBaseUrl} />}
        <div class="actions after-key">
          <a class="btn second" href={keyPath(key.keyId)}>
            {shownAt === 'creation' ? 'Set webhook URL' : 'Go to the key'}
          </a>
        </div>
      </>
    ),
  });
}

/**
 * The first ride with a new test key: one click in the console, or one command in a terminal. The console opens in
 * another tab, because leaving this page removes the key.
 */
function FirstRide({ shownKey, publicBaseUrl }: Pick<KeyShownPageProps, 'publicBaseUrl'> & { shownKey: ShownKey }) {
  const firstValueOf = (field: RideField) => firstValues[field];
  const request = {
    apiUrl: `${publicBaseUrl}/v1`,
    scenario: 'default',
    body: requestBody(firstValueOf),
    key: shownKey.key,
  };
  return (
    <section class="section first-ride" aria-labelledby="first-ride">
      <h2 id="first-ride">Start a first ride</h2>
      <div class="row">
        <ChangeForm action={consolePath} inNewTab>
          <input type="hidden" name="key" value={shownKey.keyId} />
          <input type="hidden" name="scenario" value="default" />
          {Object.entries(firstValues).map(
            ([field, value]) => value && <input key={field} type="hidden" name={field} value={value} />,
          )}
          <button class="btn" type="submit" aria-describedby="first-ride-hint">
            Start in the console
          </button>
        </ChangeForm>
        <p class="hint" id="first-ride-hint">
          A simulated driver drives it in about 15 s. It opens in a new tab, so this page keeps the key.
        </p>
      </div>
      <p>Or start it from a terminal:</p>
      <div data-secret={keyPath(shownKey.keyId)}>
        <CodeBlock label="Request as curl" text={creationAsCurl(request)} />
      </div>
    </section>
  );
}

interface ShownBeforePageProps {
  account: CurrentAccount;
  key: KeyFacts;
  shownAt: ShownAt;
}

/** The answer to a repeated form. The first answer has shown the key. */
export function shownBeforePage({ account, key, shownAt }: ShownBeforePageProps): string {
  const title = shownAt === 'creation' ? 'This key exists already' : 'This form was sent before';
  return dashboardPage({
    title,
    account,
    section: 'keys',
    test: key.mode === 'test',
    children: (
      <>
        <PageHead title={title}>
          <p>
            {key.name} <ModePill mode={key.mode} />
          </p>
        </PageHead>
        <div class="notice">
          <p>
            {shownAt === 'creation' ? (
              <>
                It was created when this form was first sent, on <Time at={key.createdAt} form="exact" />, and shown
                then.
              </>
            ) : (
              'The key was rotated when this form was first sent, and the new one was shown then.'
            )}
            {key.rotatedAt && (
              <>
                {' '}
                It was last rotated on <Time at={key.rotatedAt} form="exact" />.
              </>
            )}
          </p>
          {key.revokedAt ? (
            <p>
              It was revoked on <Time at={key.revokedAt} form="exact" />.
            </p>
          ) : (
            <p>
              A key is shown only in the browser that created it, and only until it is rotated. If you did not copy it,
              rotate it: you get a new key, and the old one stops working.
            </p>
          )}
        </div>
        <div class="actions">
          {!key.revokedAt && <LinkButton to={`${keyPath(key._id)}/rotate`}>Rotate</LinkButton>}
          <a class="btn second" href={keyPath(key._id)}>
            Go to the key
          </a>
          <a class="btn second" href={keysPath}>
            All keys
          </a>
        </div>
      </>
    ),
  });
}

/** The answer to a form whose secret another person has already replaced. It shows no secret. */
export function notReplacedPage({
  account,
  key,
  message,
}: {
  account: CurrentAccount;
  key: KeyFacts;
  message: string;
}): string {
  return dashboardPage({
    title: 'Nothing was changed',
    account,
    section: 'keys',
    test: key.mode === 'test',
    hasErrors: true,
    children: (
      <>
        <PageHead title="Nothing was changed">
          <p>
            {key.name} <ModePill mode={key.mode} />
          </p>
        </PageHead>
        <div class="notice bad" role="alert" tabIndex={-1} data-focus>
          <p>{message}</p>
          <p>The secret that was shown to them works. Ask them for it, or open the key and replace the secret again.</p>
        </div>
        <div class="actions">
          <a class="btn second" href={keyPath(key._id)}>
            Go to the key
          </a>
        </div>
      </>
    ),
  });
}
