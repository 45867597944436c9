import { accountOf, operatorEmail } from '../../shared/accounts/account.ts';
import { readConfig } from '../../shared/config.ts';
import { createKey, listKeys, rotateKey } from '../../shared/keys/manage-keys.ts';
import { withDatabase } from './database.ts';
import type { Stack } from './stack.ts';

const name = 'dev';

/** The stack's test key. A key can be shown only once, so each start gives it a new secret; its rides stay its own. */
export async function freshTestKey({ env }: Stack): Promise<string> {
  return withDatabase(env.MONGO_URL, async () => {
    const { _id: accountId } = await accountOf(operatorEmail);
    const own = await listKeys(accountId);
    const known = own.find((key) => key.name === name && key.mode === 'test' && !key.revokedAt);
    const { key } = known
      ? await rotateKey(known._id)
      : await createKey(readConfig(env), { accountId, name, mode: 'test' });
    return key;
  });
}
