import type { Account } from '../../../shared/accounts/account.ts';
import type { Mode } from '../../../shared/mode.ts';
import { exactText, waitText } from '../facts.tsx';
import { ChangeForm, ChoiceField, FaultSummary, type Faults, TextField } from '../forms.tsx';
import { dashboardPage, PageHead } from '../frame.tsx';
import { counted } from '../usage/words.ts';
import { keysPath } from './paths.ts';

const modes = [
  ['test', 'Test: simulated driver, no money'],
  ['live', 'Live: real drivers, real fares'],
] as const satisfies [Mode, string][];

export const isMode = (text: string): text is Mode => modes.some(([mode]) => mode === text);

interface NewKeyPageProps {
  account: Account;
  typed: { name: string; mode: string };
  faults?: Faults;
}

/** The form for a new key. */
export function newKeyPage({ account, typed, faults = {} }: NewKeyPageProps): string {
  return dashboardPage({
    title: 'New key',
    account,
    room: 'keys',
    hasErrors: Object.keys(faults).length > 0,
    children: (
      <>
        <PageHead title="New key">
          <p>One key for each system that sends rides: it can be rotated or revoked without the others.</p>
        </PageHead>
        <FaultSummary faults={faults} title="No key created yet" />
        <ChangeForm action={keysPath} class="form">
          <TextField
            name="name"
            label="Name"
            hint="To tell it from your other keys, for example “Front desk”. It can be changed later."
            value={typed.name}
            faults={faults}
          />
          <ChoiceField
            name="mode"
            label="Mode"
            hint="A key keeps its mode. Addresses and answers are the same in both."
            value={isMode(typed.mode) ? typed.mode : 'test'}
            options={modes}
            faults={faults}
          />
          <div class="actions">
            <button class="btn" type="submit">
              Create key
            </button>
            <a class="btn second" href={keysPath}>
              Cancel
            </a>
          </div>
        </ChangeForm>
      </>
    ),
  });
}

/** An account with as many active keys as it may have. */
export function fullPage({
  account,
  most,
  hasErrors,
}: {
  account: Account;
  most: number;
  hasErrors?: boolean;
}): string {
  return dashboardPage({
    title: 'New key',
    account,
    room: 'keys',
    hasErrors,
    children: (
      <>
        <PageHead title="New key" />
        <div class="notice bad" role="alert" tabIndex={-1} data-focus>
          <p>
            <strong>
              This account has {most} active {most === 1 ? 'key, the most' : 'keys, the most'} it can have.
            </strong>{' '}
            {hasErrors && 'No key was created. '}
            Revoke one that is no longer used, then create the new one.
          </p>
          <p class="links">
            <a href={keysPath}>See the keys, and when each was last used</a>
          </p>
        </div>
      </>
    ),
  });
}

/** An account that has created as many keys in 24 hours as it can. */
export function newKeysPage({
  account,
  most,
  freesAt,
  now,
}: {
  account: Account;
  most: number;
  /** When the next key is possible. */
  freesAt: Date;
  now: number;
}): string {
  return dashboardPage({
    title: 'New key',
    account,
    room: 'keys',
    hasErrors: true,
    children: (
      <>
        <PageHead title="New key" />
        <div class="notice bad" role="alert" tabIndex={-1} data-focus>
          <p>
            <strong>
              This account has created {counted(most, 'key')} in the last 24 hours, the most it can. No key was created.
            </strong>{' '}
            The next one is possible at {exactText(freesAt)}, in about {waitText(freesAt.getTime() - now)}. Revoked keys
            count, too.
          </p>
          <p class="links">
            <a href={keysPath}>See the keys</a>
          </p>
        </div>
      </>
    ),
  });
}
