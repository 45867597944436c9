import type { KeyFacts, NewKey } from '../../shared/keys/manage-keys.ts';
import type { Document } from '../kit/answer.ts';
import { ButtonLink, CodeBlock, LinkButton, Secret, Submit } from '../kit/blocks.tsx';
import { Notice } from '../kit/declared-form.tsx';
import { ModePill, Time } from '../kit/facts.tsx';
import { ChangeForm } from '../kit/forms.tsx';
import { consolePath, keyPath, keysPath } from '../kit/paths.ts';
import { creationAsCurl, firstValues, type RideField, requestBody } from '../kit/ride-request.ts';

/** The two actions that create a secret key and show it. */
type ShownAt = 'creation' | 'rotation';
type ShownKey = Pick<NewKey, 'keyId' | 'key' | 'name' | 'mode'>;

const ofKey = ({ name, mode }: Pick<NewKey, 'name' | 'mode'>, document: Document): Document => ({
  test: mode === 'test',
  lead: (
    <p>
      {name} <ModePill mode={mode} />
    </p>
  ),
  ...document,
});

/** The one page that shows a secret key (contract, section 5.4). */
export const keyShown = (key: ShownKey, shownAt: ShownAt, publicBaseUrl: string): Document =>
  ofKey(key, {
    title: shownAt === 'creation' ? 'Key created' : 'Key rotated',
    scripts: ['secret-page.js'],
    children: (
      <>
        <section class="notice good" aria-labelledby="copy-now" tabIndex={-1} data-focus>
          <h2 id="copy-now">Copy the key now</h2>
          <p>It will not be shown again. Store it where your server stores its secrets, and nowhere else.</p>
          <Secret text={key.key} what="key" testId="new-key" leave={keyPath(key.keyId)} />
          {shownAt === 'rotation' && <p>The old key has stopped working.</p>}
        </section>
        {shownAt === 'creation' && key.mode === 'test' && <FirstRide shown={key} publicBaseUrl={publicBaseUrl} />}
        <div class="actions">
          <ButtonLink to={keyPath(key.keyId)}>
            {shownAt === 'creation' ? 'Set webhook URL' : 'Go to the key'}
          </ButtonLink>
        </div>
      </>
    ),
  });

/**
 * The first ride with a new test key: one click in the console, or one command in a terminal. The console opens in
 * another tab, because leaving this page removes the key.
 */
function FirstRide({ shown: { keyId, key }, publicBaseUrl }: { shown: ShownKey; publicBaseUrl: string }) {
  const body = requestBody((field: RideField) => firstValues[field]);
  const request = { apiUrl: `${publicBaseUrl}/v1`, scenario: 'default', body, key };
  const fields = { key: keyId, scenario: 'default', ...firstValues };
  return (
    <section class="section" aria-labelledby="first-ride">
      <h2 id="first-ride">Start a first ride</h2>
      <div class="row">
        <ChangeForm action={consolePath} inNewTab>
          {Object.entries(fields).map(
            ([field, value]) => value && <input key={field} type="hidden" name={field} value={value} />,
          )}
          <Submit about="first-ride-hint">Start in the console</Submit>
        </ChangeForm>
        <p class="hint" id="first-ride-hint">
          A simulated driver drives it in about 15 s. It opens in a new tab, so this page keeps the key.
        </p>
      </div>
      <p>Or start it from a terminal:</p>
      <div data-secret={keyPath(keyId)}>
        <CodeBlock label="Request as curl" text={creationAsCurl(request)} />
      </div>
    </section>
  );
}

/** The answer to a repeated form. The first answer has shown the key. */
export const shownBefore = (key: KeyFacts, shownAt: ShownAt): Document =>
  ofKey(key, {
    title: shownAt === 'creation' ? 'This key exists already' : 'This form was sent before',
    children: (
      <>
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
          <ButtonLink to={keyPath(key._id)}>Go to the key</ButtonLink>
          <ButtonLink to={keysPath}>All keys</ButtonLink>
        </div>
      </>
    ),
  });

/** The answer to a form whose secret another person has already replaced. It shows no secret. */
export const notReplaced = (key: KeyFacts, message: string): Document =>
  ofKey(key, {
    title: 'Nothing was changed',
    hasErrors: true,
    children: (
      <>
        <Notice bad>
          <p>{message}</p>
          <p>The secret that was shown to them works. Ask them for it, or open the key and replace the secret again.</p>
        </Notice>
        <div class="actions">
          <ButtonLink to={keyPath(key._id)}>Go to the key</ButtonLink>
        </div>
      </>
    ),
  });
