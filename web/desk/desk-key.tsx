import { chooseFirstDeskKey, type Desk } from '../../shared/accounts/desk.ts';
import { AppError } from '../../shared/base/errors.ts';
import { isSuspended } from '../../shared/keys/api-key.ts';
import { listActiveKeys } from '../../shared/keys/list-keys.ts';
import { findKey, type KeyFacts } from '../../shared/keys/manage-keys.ts';
import { Empty } from '../kit/blocks.tsx';
import { deskSettingsPath } from '../kit/paths.ts';
import { IfMay } from '../kit/viewer.tsx';

/** The key with which a desk books. Only an `active` one can book. */
export type DeskKey = { state: 'none' } | { state: 'active' | 'revoked' | 'suspended'; key: KeyFacts };

/** The active keys of the account. */
export const usableKeys = async (owner: { accountId: string }): Promise<KeyFacts[]> =>
  (await listActiveKeys(owner)).filter((key) => !isSuspended(key));

/** Chooses the account's only key for its desk, if nobody has chosen one yet. Resolves with its id, if it has one. */
export async function chooseOnlyKey(owner: { accountId: string }): Promise<string | undefined> {
  const [key, another] = await usableKeys(owner);
  if (!key || another) return undefined;
  await chooseFirstDeskKey(owner.accountId, key._id);
  return key._id;
}

/** Reads the key that the account has chosen for its desk. */
export async function readDeskKey({ keyId }: Pick<Desk, 'keyId'>, owner: { accountId: string }): Promise<DeskKey> {
  if (keyId === undefined) return { state: 'none' };
  try {
    const key = await findKey(keyId, owner);
    return { state: key.revokedAt ? 'revoked' : isSuspended(key) ? 'suspended' : 'active', key };
  } catch (error) {
    // The retention deletes revoked keys that never had a ride.
    if (error instanceof AppError && error.code === 'not_found') return { state: 'none' };
    throw error;
  }
}

/** Says why the desk cannot book, and what to do. Nothing for an active key. */
export function KeyNotice({ deskKey }: { deskKey: DeskKey }) {
  const text = textFor(deskKey);
  if (!text) return null;
  return (
    <Empty text={text}>
      <IfMay route="GET /desk/settings">
        <a class="btn" href={deskSettingsPath}>
          Choose a key
        </a>
      </IfMay>
    </Empty>
  );
}

function textFor(deskKey: DeskKey): string | null {
  switch (deskKey.state) {
    case 'active':
      return null;
    case 'none':
      return 'The desk books with one of the account’s keys, and none is chosen yet. An owner or a developer chooses it.';
    case 'revoked':
      return `The desk’s key “${deskKey.key.name}” is revoked. An owner or a developer chooses another one.`;
    case 'suspended':
      return `The operator of this service has suspended the desk’s key “${deskKey.key.name}”. Ask the operator, or choose another key.`;
  }
}
