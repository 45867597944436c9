import { AccountModel, accountOf, operatorEmail } from '../../shared/accounts/account.ts';
import { type AuditAction, audit, commandLine } from '../../shared/accounts/audit.ts';
import type { Config } from '../../shared/base/config.ts';
import { describeError } from '../../shared/base/errors.ts';
import { untilSettingsApply } from '../../shared/keys/delivery-settings.ts';
import {
  createKey,
  findKey,
  type KeySettings,
  listKeys,
  revokeKey,
  setWebhookUrl,
} from '../../shared/keys/manage-keys.ts';
import { rekeySecrets } from '../../shared/keys/rekey.ts';
import { rollSigningSecret, rotateKey } from '../../shared/keys/replace-secret.ts';
import { type KeyNews, keyMail } from '../../shared/mail/key-mails.ts';
import { canSendMail, storeMail } from '../../shared/mail/mail.ts';
import type { KeysArguments } from './arguments.ts';
import type { CommandName } from './usage.ts';

type Settings = KeySettings & Pick<Config, 'publicBaseUrl'>;

type Command = (config: Settings, args: KeysArguments) => Promise<object | object[]>;

/** What each command does in the connected database, and its answer. */
export const commands: Record<CommandName, Command> = {
  create: async (config, { keyName, mode, account, 'webhook-url': webhookUrl }) => {
    const { _id: accountId } = await accountOf(account ?? operatorEmail);
    const made = await createKey(config, { accountId, name: keyName, mode, webhookUrl });
    await reported(config, 'created', made.keyId);
    return made;
  },
  list: async (_config, { account }) => listedKeys(account),
  rotate: async (config, { keyId }) => {
    const rotated = await rotateKey(keyId, 'anyone');
    await reported(config, 'rotated', keyId);
    return rotated;
  },
  revoke: async (_config, { keyId }) => {
    await revokeKey(keyId, 'anyone');
    await noted('key_revoked', keyId);
    return { keyId, revoked: true };
  },
  'set-webhook': async (config, { keyId, url }) => {
    if (await setWebhookUrl(config, keyId, url, 'anyone')) await noted('webhook_url_set', keyId);
    await untilSettingsApply(keyId);
    return { keyId, webhookUrl: url };
  },
  'roll-secret': async (config, { keyId }) => {
    const rolled = await rollSigningSecret(config, keyId, 'anyone');
    await noted('signing_secret_rolled', keyId);
    await untilSettingsApply(keyId);
    return rolled;
  },
  rekey: async (config) => rekeySecrets(config.secrets.keys),
};

/** The account of the key sees in its dashboard what the operator did. */
async function noted(action: AuditAction, keyId: string): Promise<void> {
  const { accountId } = await findKey(keyId, 'anyone');
  await audit({ accountId, action, keyId, from: commandLine }, Date.now());
}

/**
 * Notes a new key or a rotation, and reports it to the account's address where it has one that people read. Never fails: the
 * new secret exists already, and must be printed.
 */
async function reported(config: Settings, what: KeyNews['what'], keyId: string): Promise<void> {
  try {
    await noted(`key_${what}`, keyId);
    const { accountId, name, mode } = await findKey(keyId, 'anyone');
    const account = await AccountModel.findById(accountId).lean();
    if (!account || account.email === operatorEmail || !canSendMail(config)) return;
    const at = new Date();
    const mail = keyMail(config, account.email, { what, keyId, name, mode, at, from: commandLine });
    await storeMail(config, mail, at.getTime());
  } catch (error) {
    console.error(`The account's log or its mail lacks this: ${describeError(error).name}`);
  }
}

export type ListedKey = {
  keyId: string;
  name: string;
  mode: string;
  key: string;
  webhookUrl: string | null;
  createdAt: string;
  lastUsedAt: string | null;
  revokedAt: string | null;
};

async function listedKeys(email?: string): Promise<ListedKey[]> {
  const account = email && (await AccountModel.findOne({ email: email.trim().toLowerCase() }).lean());
  if (email && !account) return [];
  const found = await listKeys(account ? { accountId: account._id } : 'anyone');
  return found.map((key) => ({
    keyId: key._id,
    name: key.name,
    mode: key.mode,
    key: key.hint,
    webhookUrl: key.webhookUrl ?? null,
    createdAt: key.createdAt.toISOString(),
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    revokedAt: key.revokedAt?.toISOString() ?? null,
  }));
}
