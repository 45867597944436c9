import type { Account } from '../../../shared/accounts/account.ts';
import type { KeyFacts } from '../../../shared/keys/manage-keys.ts';
import { secretVersion } from '../../../shared/keys/replace-secret.ts';
import { ModePill } from '../facts.tsx';
import { ChangeForm } from '../forms.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { keyPath } from '../paths.ts';
import { lastFour } from './key-parts.tsx';

export type Question = keyof typeof questions;

/** The changes that need a confirmation, with their effects. */
const questions = {
  rotate: {
    path: 'rotate',
    title: 'Rotate this key?',
    effects: [
      'You get a new key, shown once.',
      'The key that is in use now stops working at once: requests with it are answered 401 until your system has the new one.',
      'Its rides, webhook URL and signing secret stay.',
    ],
    button: 'Rotate',
    keep: 'Keep the key',
  },
  revoke: {
    path: 'revoke',
    title: 'Revoke this key?',
    effects: [
      'Requests with it are answered 401 at once, for good. This cannot be undone.',
      'Rides that are under way go on, and their events are still sent.',
    ],
    button: 'Revoke',
    keep: 'Keep the key',
  },
  roll: {
    path: 'roll-secret#secret',
    title: 'Roll the signing secret?',
    effects: [
      'The very next delivery is signed with a new secret.',
      'A receiver that checks signatures refuses events until it has the new one.',
      'The key itself goes on working.',
    ],
    button: 'Roll signing secret',
    keep: 'Keep the secret',
  },
} as const;

/** The field with the secret that the form replaces: a secret that is no longer in use is not replaced again. */
export const seenField = 'seen';

/** Asks for confirmation of a change that cannot be undone. */
export function confirmChangePage({
  account,
  key,
  question,
}: {
  account: Account;
  key: KeyFacts;
  question: Question;
}): string {
  const { path, title, effects, button, keep } = questions[question];
  return dashboardPage({
    title,
    account,
    room: 'keys',
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
          {question !== 'revoke' && <input type="hidden" name={seenField} value={secretVersion[question](key)} />}
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
