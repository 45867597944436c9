import { batchedFind } from '../batch.ts';
import type { Config } from '../config.ts';
import { AppError } from '../errors.ts';
import { newKeyId, sha256 } from '../ids.ts';
import type { Mode } from '../mode.ts';
import { checkGivenTarget } from '../targets/given-target.ts';
import { type ApiKey, KeyModel, keys } from './api-key.ts';
import { decrypt, encrypt } from './encryption.ts';
import { keyHint, newApiKey, newSigningSecret } from './key-format.ts';

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

/**
 * Creates a key of an account (contract, section 5). Throws `invalid_request` for a name that is not 1 to 100
 * characters or a webhook URL that may not be called.
 */
export async function createKey(
  config: KeySettings,
  input: { accountId: string; name: string; mode: Mode; webhookUrl?: string },
): Promise<NewKey> {
  const name = input.name.trim();
  if (!name || name.length > 100)
    throw new AppError('invalid_request', { message: 'name must be 1 to 100 characters' });
  if (input.webhookUrl !== undefined) assertWebhookUrl(config, input.webhookUrl);
  const keyId = newKeyId();
  const key = newApiKey(input.mode);
  const signingSecret = newSigningSecret();
  await KeyModel.create({
    _id: keyId,
    accountId: input.accountId,
    name,
    mode: input.mode,
    hash: sha256(key),
    hint: keyHint(key),
    webhookUrl: input.webhookUrl,
    signingSecret: encrypt(signingSecret, config.secrets.keys, keyId),
    createdAt: new Date(),
  });
  return { keyId, key, mode: input.mode, name, webhookUrl: input.webhookUrl ?? null, signingSecret };
}

/** The keys of an owner, or of all for `anyone`, oldest first and without their secrets. */
export async function listKeys(owner: KeyOwner): Promise<Omit<ApiKey, 'hash' | 'signingSecret'>[]> {
  return KeyModel.find(ownedBy(owner), { hash: 0, signingSecret: 0 }).sort({ createdAt: 1, _id: 1 }).lean();
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
  await changeActive(keyId, owner, { revokedAt: new Date() });
}

/**
/**
 * Sets the default webhook URL of the key; null takes it away. Throws `invalid_request` for a URL that may not be called
 * (contract, section 6, rule 2).
 */
export async function setWebhookUrl(
  config: KeySettings,
  keyId: string,
  webhookUrl: string | null,
  owner: KeyOwner,
): Promise<void> {
  if (webhookUrl === null) return changeActive(keyId, owner, {}, { webhookUrl: 1 });
  assertWebhookUrl(config, webhookUrl);
  await changeActive(keyId, owner, { webhookUrl });
}

/** Gives the key a new signing secret. The very next delivery is signed with it (contract, section 6, rule 7). */
export async function rollSigningSecret(
  config: KeySettings,
  keyId: string,
  owner: KeyOwner,
): Promise<{ keyId: string; signingSecret: string }> {
  const signingSecret = newSigningSecret();
  await changeActive(keyId, owner, { signingSecret: encrypt(signingSecret, config.secrets.keys, keyId) });
  return { keyId, signingSecret };
}

/** What a delivery needs to know of its key. */
export interface DeliverySettings {
  webhookUrl?: string;
  signingSecret: string;
  /** The last deliveries failed (`failing` of the key): the next one that succeeds ends that. */
  isFailing?: true;
}

const findSettings = batchedFind<ApiKey>(keys, '_id', { webhookUrl: 1, signingSecret: 1, failing: 1 });

/**
 * Reads the current webhook URL and signing secret of a key, for a delivery; a caller's view of a key needs an owner
 * instead. Works for a revoked key, too: the events of its rides are sent. Throws AppError `not_found` when the record
 * is missing, SecretsKeyMissing or SecretDamaged when the signing secret does not decrypt.
 */
export async function deliverySettings(config: Pick<Config, 'secrets'>, keyId: string): Promise<DeliverySettings> {
  const found = await findSettings(keyId);
  if (!found) throw new AppError('not_found');
  const signingSecret = decrypt(found.signingSecret, config.secrets.keys, keyId);
  return { webhookUrl: found.webhookUrl, signingSecret, ...(found.failing && { isFailing: true }) };
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

async function changeActive(
  keyId: string,
  owner: KeyOwner,
  set: Partial<ApiKey>,
  unset: { webhookUrl?: 1 } = {},
): Promise<void> {
  const change = { $set: set, $unset: unset };
  const { matchedCount } = await keys.updateOne(activeKeyOf(keyId, owner), change);
  if (matchedCount === 0) throw unknownKey();
}

const unknownKey = () => new AppError('not_found', { message: 'No active key has this id' });
