import { charge, type Limit } from '../../../shared/accounts/limit.ts';
import type { CurrentAccount } from '../../../shared/accounts/members.ts';
import type { Context } from '../../../shared/base/context.ts';
import type { Mode } from '../../../shared/base/terms.ts';
import { listActiveKeys } from '../../../shared/keys/list-keys.ts';
import { createKeyByForm, isKeyName } from '../../../shared/keys/manage-keys.ts';
import { counted, Time, waitText } from '../../../web/kit/facts.tsx';
import { ChangeForm, ChoiceField, FaultSummary, type Faults, TextField } from '../../../web/kit/forms.tsx';
import { nameFault } from '../../../web/kit/key-parts.tsx';
import { keysPath } from '../../../web/kit/paths.ts';
import { dashboardPage, PageHead } from '../frame.tsx';
import { type Answer, askForCode, type DashboardRoute, type PageRequest, signedInRoutes } from '../page-routes.ts';
import { keyShownPage, shownBeforePage } from './key-created-page.tsx';
import { keyRecords } from './key-records.ts';

/** The limit on new keys. Keys that were revoked since count too; the command line is exempt. */
const newKeys = ({ newKeysPerDay: most }: Context['config']): Limit => ({
  name: 'new-keys',
  most,
  perMs: 24 * 3_600_000,
});

export function newKeyRoutes(service: Context): DashboardRoute[] {
  const { config } = service;
  const { page, action } = signedInRoutes(service);
  const { recordNewKey } = keyRecords(service);

  function tooManyNewKeys({ account, ctx }: PageRequest, freesMs: number): Answer {
    ctx.set('Retry-After', String(Math.ceil(freesMs / 1_000)));
    const now = service.now();
    const html = newKeysPage({ account, most: config.newKeysPerDay, now, freesAt: new Date(now + freesMs) });
    return { html, status: 429 };
  }

  return [
    page('/keys/new', async ({ account, owner, query }) => {
      const active = (await listActiveKeys(owner)).length;
      if (active >= config.maxKeysPerAccount) return fullPage({ account, most: config.maxKeysPerAccount });
      return newKeyPage({ account, typed: { name: query('name'), mode: query('mode') } });
    }),

    action('/keys', async (request) => {
      const { account, form, sent } = request;
      const typed = { name: form.text('name'), mode: form.text('mode') };
      const { name, mode } = typed;
      if (!isKeyName(name) || !isMode(mode)) {
        const faults: Faults = {
          ...(!isKeyName(name) && { name: nameFault(name) }),
          ...(!isMode(mode) && { mode: 'Choose a mode, test or live' }),
        };
        return { html: newKeyPage({ account, typed, faults }), status: 422 };
      }
      const back = `${keysPath}/new?mode=live&name=${encodeURIComponent(name)}`;
      const unconfirmed = mode === 'live' && askForCode(request, back, service.now());
      if (unconfirmed) return unconfirmed;
      const most = config.maxKeysPerAccount;
      const today = await charge(newKeys(config), account._id, service.now(), sent.id);
      if (today.isFull) return tooManyNewKeys(request, today.freesMs);
      const made = await createKeyByForm(config, { accountId: account._id, name, mode, form: sent, most });
      if (made === 'full') {
        await today.refund();
        return { html: fullPage({ account, most, hasErrors: true }), status: 422 };
      }
      const key = await recordNewKey(request, 'created', made.keyId, made.at);
      return made.made
        ? keyShownPage({ account, key: made.made, shownAt: 'creation', publicBaseUrl: config.publicBaseUrl })
        : shownBeforePage({ account, key, shownAt: 'creation' });
    }),
  ];
}

const modes = [
  ['test', 'Test: simulated driver, no money'],
  ['live', 'Live: real drivers, real fares'],
] as const satisfies [Mode, string][];

const isMode = (text: string): text is Mode => modes.some(([mode]) => mode === text);

interface NewKeyPageProps {
  account: CurrentAccount;
  typed: { name: string; mode: string };
  faults?: Faults;
}

function newKeyPage({ account, typed, faults = {} }: NewKeyPageProps): string {
  return dashboardPage({
    title: 'Create key',
    account,
    section: 'keys',
    hasErrors: Object.keys(faults).length > 0,
    children: (
      <>
        <PageHead title="Create key">
          <p>Create one key for each system that creates rides. You can then rotate or revoke it separately.</p>
        </PageHead>
        <FaultSummary faults={faults} title="No key created yet" />
        <ChangeForm action={keysPath} class="form">
          <TextField
            name="name"
            label="Name"
            hint="Identifies the key in your lists, for example “Front desk”. You can change it later."
            value={typed.name}
            faults={faults}
          />
          <ChoiceField
            name="mode"
            label="Mode"
            hint="The mode of a key cannot be changed. URLs and answers are the same in both modes."
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

/** The page for an account that has reached the limit of active keys. */
function fullPage({
  account,
  most,
  hasErrors,
}: {
  account: CurrentAccount;
  most: number;
  hasErrors?: boolean;
}): string {
  return dashboardPage({
    title: 'Create key',
    account,
    section: 'keys',
    hasErrors,
    children: (
      <>
        <PageHead title="Create key" />
        <div class="notice bad" role="alert" tabIndex={-1} data-focus>
          <p>
            <strong>
              This account has {most} active {most === 1 ? 'key, the most' : 'keys, the most'} it can have.
            </strong>{' '}
            {hasErrors && 'No key was created. '}
            Revoke one that is no longer used, then create the new one.
          </p>
          <p class="links">
            <a href={keysPath}>All keys</a>
          </p>
        </div>
      </>
    ),
  });
}

/** The page for an account that has reached the limit of new keys in 24 hours. */
function newKeysPage({
  account,
  most,
  freesAt,
  now,
}: {
  account: CurrentAccount;
  most: number;
  /** The time at which the next key becomes possible. */
  freesAt: Date;
  now: number;
}): string {
  return dashboardPage({
    title: 'Create key',
    account,
    section: 'keys',
    hasErrors: true,
    children: (
      <>
        <PageHead title="Create key" />
        <div class="notice bad" role="alert" tabIndex={-1} data-focus>
          <p>
            <strong>
              This account has created {counted(most, 'key')} in the last 24 hours, the most it can. No key was created.
            </strong>{' '}
            The next one is possible on <Time at={freesAt} form="exact" />, in about {waitText(freesAt.getTime() - now)}
            . Revoked keys count, too.
          </p>
          <p class="links">
            <a href={keysPath}>All keys</a>
          </p>
        </div>
      </>
    ),
  });
}
