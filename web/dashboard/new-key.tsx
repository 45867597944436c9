import { charge, type Limit } from '../../shared/accounts/limit.ts';
import type { Mode } from '../../shared/base/terms.ts';
import { listActiveKeys } from '../../shared/keys/list-keys.ts';
import { createKeyByForm } from '../../shared/keys/manage-keys.ts';
import { type Document, type PageRequest, retryAfter, type SentRequest } from '../kit/answer.ts';
import { ButtonLink, Submit } from '../kit/blocks.tsx';
import { choice, text } from '../kit/declared-fields.tsx';
import { DeclaredForm, Notice } from '../kit/declared-form.tsx';
import { counted, Time, waitText } from '../kit/facts.tsx';
import { form } from '../kit/form.ts';
import { keyNameIn } from '../kit/key-parts.tsx';
import { page } from '../kit/page.tsx';
import { keysPath } from '../kit/paths.ts';
import { builders } from '../kit/roles.ts';
import { recordNewKey } from './key-records.ts';
import { keyShown, shownBefore } from './key-shown.tsx';

const modes = [
  ['test', 'Test: simulated driver, no money'],
  ['live', 'Live: real drivers, real fares'],
] as const satisfies [Mode, string][];

export const newKey = page('/keys/new', {
  section: 'keys',
  roles: builders,
  read: async (request) => ({ most: (await isFull(request)) ? request.service.config.maxKeysPerAccount : undefined }),
  view: ({ most }) => (most === undefined ? newKeyView() : full(most)),
  faultTitle: 'No key created yet',
  forms: {
    create: form({
      path: '/keys',
      fields: {
        name: text('Name', keyNameIn, {
          hint: 'Identifies the key in your lists, for example “Front desk”. You can change it later.',
        }),
        mode: choice('Mode', modes, 'Choose a mode, test or live', {
          hint: 'The mode of a key cannot be changed. URLs and answers are the same in both modes.',
        }),
      },
      recentCode: (_, { mode }) => mode === 'live' && ['mode', 'name'],
      act: create,
    }),
  },
});

/** A form with faults is shown again in any case. */
const isFull = async (request: PageRequest): Promise<boolean> =>
  !('sent' in request) && (await listActiveKeys(request.owner)).length >= request.service.config.maxKeysPerAccount;

async function create(request: SentRequest, { name, mode }: { name: string; mode: Mode }) {
  const { account, sent, service } = request;
  const { newKeysPerDay, maxKeysPerAccount: most, publicBaseUrl } = service.config;
  // Keys that were revoked since count too; the command line is exempt.
  const limit: Limit = { name: 'new-keys', most: newKeysPerDay, perMs: 24 * 3_600_000 };
  const today = await charge(limit, account._id, service.now(), sent.id);
  if (today.isFull) {
    return {
      document: tooMany(newKeysPerDay, today.freesMs, service.now()),
      status: 429,
      headers: retryAfter(today.freesMs),
    };
  }
  const made = await createKeyByForm(service.config, { accountId: account._id, name, mode, form: sent, most });
  if (made === 'full') {
    await today.refund();
    return { document: full(most, true), status: 422 };
  }
  const key = await recordNewKey(request, 'created', made.keyId, made.at);
  return { document: made.made ? keyShown(made.made, 'creation', publicBaseUrl) : shownBefore(key, 'creation') };
}

const newKeyView = (): Document => ({
  title: 'Create key',
  lead: <p>Create one key for each system that creates rides. You can then rotate or revoke it separately.</p>,
  children: (
    <DeclaredForm name="create" values={{ mode: 'test' }} class="form">
      <div class="actions">
        <Submit>Create key</Submit>
        <ButtonLink to={keysPath}>Cancel</ButtonLink>
      </div>
    </DeclaredForm>
  ),
});

const refused = (children: Document['children'], hasErrors?: boolean): Document => ({
  title: 'Create key',
  hasErrors,
  children: (
    <Notice bad>
      {children}
      <p class="links">
        <a href={keysPath}>All keys</a>
      </p>
    </Notice>
  ),
});

/** The page for an account that has reached the limit of active keys. */
const full = (most: number, isSent?: boolean): Document =>
  refused(
    <p>
      <strong>
        This account has {most} active {most === 1 ? 'key, the most' : 'keys, the most'} it can have.
      </strong>{' '}
      {isSent && 'No key was created. '}
      Revoke one that is no longer used, then create the new one.
    </p>,
    isSent,
  );

/** The page for an account that has reached the limit of new keys in 24 hours. */
const tooMany = (most: number, freesMs: number, now: number): Document =>
  refused(
    <p>
      <strong>
        This account has created {counted(most, 'key')} in the last 24 hours, the most it can. No key was created.
      </strong>{' '}
      The next one is possible on <Time at={new Date(now + freesMs)} form="exact" />, in about {waitText(freesMs)}.
      Revoked keys count, too.
    </p>,
    true,
  );
