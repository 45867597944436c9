import type { Desk } from '../../../shared/accounts/desk.ts';
import { AppError } from '../../../shared/base/errors.ts';
import { isSuspended } from '../../../shared/keys/api-key.ts';
import { findKey, type KeyFacts } from '../../../shared/keys/manage-keys.ts';

/** The key with which a desk books. Only an `active` one can book. */
export type DeskKey = { state: 'none' } | { state: 'active' | 'revoked' | 'suspended'; key: KeyFacts };

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
