import type { Config } from '../config.ts';
import { AppError } from '../errors.ts';
import { newKeyId, sha256 } from '../ids.ts';
import type { Mode } from '../mode.ts';
import { suspendWithAccount } from '../suspend.ts';
import { checkGivenTarget } from '../targets/given-target.ts';
import { type ApiKey, KeyModel, keys } from './api-key.ts';
import { decrypt, encrypt } from './encryption.ts';
import { keyHint, newApiKey, newSigningSecret } from './key-format.ts';
import { insertInFreePlace } from './places.ts';

/**
 * On whose behalf a key is read or changed: for an account, a key of another account counts as unknown. `anyone` is for
 * an operator.
 */
export type KeyOwner = { accountId: string } | 'anyone';

export type KeySettings = Pick<Config, 'environment' | 'webhookLocalTargets' | 'secrets'>;

/** A key with its secrets in plain text. Returned at its creation only (contract, section 5.4). */
export interface NewKey {
  keyId: string;
  key: string;
  mode: Mode;
  name: string;
  webhookUrl: string | null;
  signingSecret: string;
}

/** What a new key is made of. */
export interface KeyWish {
  accountId: string;
  name: string;
  mode: Mode;
  webhookUrl?: string;
}

/** A key as its owner sees it. */
export type KeyFacts = Omit<ApiKey, 'hash' | 'signingSecret' | 'place'>;
const withoutSecrets = { hash: 0, signingSecret: 0, place: 0 } as const;

/**
 * Creates a key of an account (contract, section 5). Throws `invalid_request` for a name that is not 1 to 100
 * characters or a webhook URL that may not be called.
 */
export async function createKey(config: KeySettings, wish: KeyWish): Promise<NewKey> {
  const { record, made } = newRecord(config, wish, newKeyId());
  await KeyModel.create(record);
  await suspendWithAccount(record);
  return made;
}

/**
 * As `createKey`, with an id that the caller chose, for an account that may have `most` active keys. Resolves with
 * `exists` when a key has this id, and with `full` when the account has as many; concurrent calls do not exceed it.
 */
export async function createKeyWithin(
  config: KeySettings,
  { keyId, most, ...wish }: KeyWish & { keyId: string; most: number },
): Promise<NewKey | 'exists' | 'full'> {
  const { record, made } = newRecord(config, wish, keyId);
  const outcome = await insertInFreePlace(record, most);
  if (outcome === 'inserted') await suspendWithAccount(record);
  return outcome === 'inserted' ? made : outcome;
}

/** Whether a text can be the name of a key. Blanks around it do not count. */
export const isKeyName = (text: string): boolean => text.trim() !== '' && text.trim().length <= 100;

function newRecord(config: KeySettings, wish: KeyWish, keyId: string): { record: ApiKey; made: NewKey } {
  const { accountId, mode, webhookUrl } = wish;
  const name = checkedName(wish.name);
  if (webhookUrl !== undefined) assertWebhookUrl(config, webhookUrl);
  const key = newApiKey(mode);
  const signingSecret = newSigningSecret();
  const record = {
    _id: keyId,
    accountId,
    name,
    mode,
    hash: sha256(key),
    hint: keyHint(key),
    ...(webhookUrl !== undefined && { webhookUrl }),
    signingSecret: encrypt(signingSecret, config.secrets.keys, keyId),
    createdAt: new Date(),
  };
  return { record, made: { keyId, key, mode, name, webhookUrl: webhookUrl ?? null, signingSecret } };
}

/** The keys of an owner, or of all for `anyone`, oldest first and without their secrets. */
export async function listKeys(owner: KeyOwner): Promise<KeyFacts[]> {
  return KeyModel.find(ownedBy(owner), withoutSecrets).sort({ createdAt: 1, _id: 1 }).lean();
}

/** One key, revoked ones included, without its secrets. Throws `not_found` for an unknown key or one of another owner. */
export async function findKey(keyId: string, owner: KeyOwner): Promise<KeyFacts> {
  const found = await KeyModel.findOne({ _id: keyId, ...ownedBy(owner) }, withoutSecrets).lean();
  if (!found) throw new AppError('not_found');
  return found;
}

/**
 * Gives the key a new secret and returns it; it cannot be read again. The old secret stops working at once; rides,
 * webhook URL, signing secret and counts stay (contract, section 5.5). Like every change below, throws `not_found` for
 * a key that is unknown, revoked or of another owner.
 */
export async function rotateKey(keyId: string, owner: KeyOwner): Promise<{ keyId: string; key: string }> {
  const { mode } = await activeKey(keyId, owner);
  const key = newApiKey(mode);
  await changeActive(keyId, owner, { hash: sha256(key), hint: keyHint(key), rotatedAt: new Date() });
  return { keyId, key };
}

/** Revokes a key: its next request, to any process, is refused. Its rides go on and their events are sent. */
export async function revokeKey(keyId: string, owner: KeyOwner): Promise<void> {
  await changeActive(keyId, owner, { revokedAt: new Date() }, { place: 1 });
}

/** Refuses a key from its next request on, until `resumeKey`. Its rides go on and their events are sent. */
export async function suspendKey(keyId: string): Promise<void> {
  await changeActive(keyId, 'anyone', { suspendedAt: new Date() });
}

/** Accepts a suspended key again, unless its account is suspended. */
export async function resumeKey(keyId: string): Promise<void> {
  await changeActive(keyId, 'anyone', {}, { suspendedAt: 1 });
}

/**
 * Gives the key another name, and resolves with whether it had a different one. Throws `invalid_request` for a name that
 * is not 1 to 100 characters.
 */
export async function renameKey(keyId: string, name: string, owner: KeyOwner): Promise<boolean> {
  const checked = checkedName(name);
  return (await changeActive(keyId, owner, { name: checked })).name !== checked;
}

/**
 * Sets the default webhook URL of the key; null takes it away. Resolves with whether the key had a different one: it
 * applies as a rolled secret does. Throws `invalid_request` for a URL that may not be called (contract, section 6, rule 2).
 */
export async function setWebhookUrl(
  config: KeySettings,
  keyId: string,
  webhookUrl: string | null,
  owner: KeyOwner,
): Promise<boolean> {
  if (webhookUrl !== null) assertWebhookUrl(config, webhookUrl);
  const before =
    webhookUrl === null
      ? await changeActive(keyId, owner, {}, { webhookUrl: 1 })
      : await changeActive(keyId, owner, { webhookUrl });
  return (before.webhookUrl ?? null) !== webhookUrl;
}

/** The signing secret of the key, for its owner to see. Throws as `deliverySettings` does (delivery-settings.ts). */
export async function viewSigningSecret(
  config: Pick<Config, 'secrets'>,
  keyId: string,
  owner: KeyOwner,
): Promise<string> {
  const { signingSecret } = await activeKey(keyId, owner);
  return decrypt(signingSecret, config.secrets.keys, keyId);
}

/**
 * Gives the key a new signing secret. Every request written after `untilSettingsApply` is signed with it (contract, section
 * 6, rule 7): the caller waits for that before it answers.
 */
export async function rollSigningSecret(
  config: KeySettings,
  keyId: string,
  owner: KeyOwner,
): Promise<{ keyId: string; signingSecret: string }> {
  const signingSecret = newSigningSecret();
  await changeActive(keyId, owner, { signingSecret: encrypt(signingSecret, config.secrets.keys, keyId) });
  return { keyId, signingSecret };
}

function checkedName(name: string): string {
  if (!isKeyName(name)) throw new AppError('invalid_request', { message: 'name must be 1 to 100 characters' });
  return name.trim();
}

function assertWebhookUrl(config: KeySettings, url: string): void {
  const refusal = checkGivenTarget(config, url);
  if (refusal) throw new AppError('invalid_request', { message: `webhookUrl ${refusal}` });
}

const ownedBy = (owner: KeyOwner) => (owner === 'anyone' ? {} : { accountId: owner.accountId });

const activeKeyOf = (keyId: string, owner: KeyOwner) => ({
  _id: keyId,
  revokedAt: { $exists: false },
  ...ownedBy(owner),
});

async function activeKey(keyId: string, owner: KeyOwner): Promise<ApiKey> {
  const found = await keys.findOne(activeKeyOf(keyId, owner));
  if (!found) throw unknownKey();
  return found;
}

/** Resolves with the key as it was before. */
async function changeActive(
  keyId: string,
  owner: KeyOwner,
  set: Partial<ApiKey>,
  unset: { webhookUrl?: 1; place?: 1; suspendedAt?: 1 } = {},
): Promise<Pick<ApiKey, 'name' | 'webhookUrl'>> {
  const change = { $set: set, $unset: unset };
  const before = await keys.findOneAndUpdate(activeKeyOf(keyId, owner), change, {
    projection: { name: 1, webhookUrl: 1 },
    returnDocument: 'before',
  });
  if (!before) throw unknownKey();
  return before;
}

const unknownKey = () => new AppError('not_found', { message: 'No active key has this id' });
