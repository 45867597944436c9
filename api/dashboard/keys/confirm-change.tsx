import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { KeyFacts } from '../../../shared/keys/manage-keys.ts';
import { secretVersion } from '../../../shared/keys/replace-secret.ts';
import { ModePill } from '../../../web/kit/facts.tsx';
import { ChangeForm } from '../../../web/kit/forms.tsx';
import { lastFour } from '../../../web/kit/key-parts.tsx';
import { keyPath } from '../../../web/kit/paths.ts';
import { dashboardPage, PageHead } from '../frame.tsx';

export type Question = keyof typeof questions;

/** The changes that need a confirmation, with their effects. */
const questions = {
  rotate: {
    path: 'rotate',
    title: 'Rotate this key?',
    effects: [
      'You get a new key, shown once.',
      'The current key stops working at once: requests with it are answered 401 until your system uses the new one.',
      'Its rides, webhook URL and signing secret stay the same.',
    ],
    button: 'Rotate',
    keep: 'Keep the key',
  },
  revoke: {
    path: 'revoke',
    title: 'Revoke this key?',
    effects: [
      'Requests with it are answered 401 from now on. This cannot be undone.',
      'Active rides continue, and their events are still sent.',
    ],
    button: 'Revoke',
    keep: 'Keep the key',
  },
  roll: {
    path: 'roll-secret#secret',
    title: 'Roll the signing secret?',
    effects: [
      'From now on, events are signed with a new secret.',
      'A receiver that checks signatures refuses events until it has the new one.',
      'The key itself continues to work.',
    ],
    button: 'Roll signing secret',
    keep: 'Keep the secret',
  },
} as const;

/**
 * The form field with the version of the secret that the form replaces. The form is refused if the secret has been
 * replaced since.
 */
export const secretVersionField = 'seen';

/** Asks for confirmation of a change that cannot be undone. */
export function confirmChangePage({
  account,
  key,
  question,
}: {
  account: CurrentAccount;
  key: KeyFacts;
  question: Question;
}): string {
  const { path, title, effects, button, keep } = questions[question];
  return dashboardPage({
    title,
    account,
    section: 'keys',
    test: key.mode === 'test',
    children: (
      <>
        <PageHead title={title}>
          <p>
            {key.name} <ModePill mode={key.mode} /> <code>{lastFour(key)}</code>
          </p>
        </PageHead>
        <ul class="effects">
          {effects.map((effect) => (
            <li key={effect}>{effect}</li>
          ))}
        </ul>
        <ChangeForm action={`${keyPath(key._id)}/${path}`} class="actions">
          {question !== 'revoke' && (
            <input type="hidden" name={secretVersionField} value={secretVersion[question](key)} />
          )}
          <button class="btn destroys" type="submit">
            {button}
          </button>
          <a class="btn second" href={keyPath(key._id)}>
            {keep}
          </a>
        </ChangeForm>
      </>
    ),
  });
}
