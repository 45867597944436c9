import { isDeepStrictEqual } from 'node:util';
import type { SentForm } from '../accounts/sent-form.ts';
import type { Config } from '../base/config.ts';
import { decrypt, encrypt } from '../base/encryption.ts';
import { AppError } from '../base/errors.ts';
import { derivedKeyId, newKeyId, sha256 } from '../base/ids.ts';
import { mongoNow } from '../base/mongo/clock.ts';
import { exists, insertOnce } from '../base/mongo/collection.ts';
import { characterFault } from '../base/shown-text.ts';
import type { Mode } from '../base/terms.ts';
import { checkGivenTarget } from '../targets/given-target.ts';
import { type ApiKey, type CreationLimit, KeyModel, keys } from './api-key.ts';
import { activeKeyOf, changeKey, type KeyOwner, ownedBy, unknownKey } from './change-key.ts';
import { keyHint, newApiKey, newSigningSecret } from './key-format.ts';
import { apiKeysOf } from './replace-secret.ts';
import { suspendWithAccount } from './suspend-account.ts';

type KeySettings = Pick<Config, 'environment' | 'webhookLocalTargets' | 'secrets'>;

/** A key with its secrets in plain text, as only its creation returns it (contract, section 5.4). */
export interface NewKey {
  keyId: string;
  key: string;
  mode: Mode;
  name: string;
  webhookUrl: string | null;
  signingSecret: string;
}

/** The properties of a key to create. */
interface KeySpec {
  accountId: string;
  name: string;
  mode: Mode;
  webhookUrl?: string;
}

/** The fields of a key that its owner may see. */
export type KeyFacts = Omit<ApiKey, 'hash' | 'signingSecret' | 'place'>;
/** The projection that reads `KeyFacts`. */
export const withoutSecrets = { hash: 0, signingSecret: 0, place: 0 } as const;

/**
 * Creates a key of an account (contract, section 5). Throws `invalid_request` for a name that is not 1 to 100
 * characters long or a webhook URL that is not allowed.
 */
export async function createKey(config: KeySettings, spec: KeySpec): Promise<NewKey> {
  const { record, made } = newRecord(config, spec, newKeyId(), await mongoNow());
  await KeyModel.create(record);
  await suspendWithAccount(record);
  return made;
}

/** The key that a form created at the time `at`. */
interface KeyCreatedByForm {
  keyId: string;
  at: Date;
  /** Missing if another session sent the form, or if the key was rotated or revoked after its creation. */
  made?: NewKey;
}

/**
 * Like `createKey`, but once per form and for an account with a limit of `most` active keys, which concurrent calls
 * never exceed. A repeated form in the same session gets the same key again until the key is rotated or revoked.
 * Resolves with `full` if the account has reached the limit and the form has created no key.
 */
export async function createKeyByForm(
  config: KeySettings,
  { form, most, ...spec }: KeySpec & { form: SentForm; most: number },
): Promise<KeyCreatedByForm | 'full'> {
  const keyId = derivedKeyId(form.id);
  const [key] = apiKeysOf(config.secrets, keyId, spec.mode, form);
  const { record, made } = newRecord(config, spec, keyId, await mongoNow(), key);
  const at = record.createdAt;
  const outcome = await insertWithinLimit({ ...record, forms: [{ id: form.id, at, isChange: true }] }, most);
  if (outcome === 'full') return outcome;
  await suspendWithAccount(record);
  return outcome === 'inserted' ? { keyId, at, made } : repeatedCreation(config, keyId, spec.mode, form);
}

/**
 * Inserts a key with the lowest free slot of its account (field `place`), which a revoked key gives up. An account has
 * the slots 1 to `most`, minus one for each active key without a slot. If two concurrent inserts choose the same slot,
 * the unique index refuses one of them, which then tries the next slot.
 */
async function insertWithinLimit(record: ApiKey, most: number): Promise<'inserted' | 'exists' | 'full'> {
  for (;;) {
    if (await exists(keys, { _id: record._id })) return 'exists';
    const place = await freeSlot(record.accountId, most);
    if (place === null) return 'full';
    if (await insertOnce(keys, { ...record, place })) return 'inserted';
  }
}

async function freeSlot(accountId: string, most: number): Promise<number | null> {
  const active = await keys.find({ accountId, revokedAt: { $exists: false } }, { projection: { place: 1 } }).toArray();
  if (active.length >= most) return null;
  const used = new Set(active.map(({ place }) => place));
  const withoutSlot = active.filter(({ place }) => place === undefined).length;
  for (let place = 1; place <= most - withoutSlot; place++) if (!used.has(place)) return place;
  return null;
}

/** Shows only a key of the form's mode: a form for a test key needs no recent code, so it must not show a live key. */
async function repeatedCreation(
  config: KeySettings,
  keyId: string,
  mode: Mode,
  form: SentForm,
): Promise<KeyCreatedByForm> {
  const record = await keys.findOne({ _id: keyId });
  if (!record) throw unknownKey();
  const { name, webhookUrl = null, hash, createdAt: at, revokedAt } = record;
  const key = apiKeysOf(config.secrets, keyId, mode, form).find((candidate) => sha256(candidate) === hash);
  if (!key || revokedAt) return { keyId, at };
  const signingSecret = decrypt(record.signingSecret, config.secrets.keys, keyId);
  return { keyId, at, made: { keyId, key, mode, name, webhookUrl, signingSecret } };
}

/** True if a text can be the name of a key. Surrounding whitespace does not count. */
export const isKeyName = (text: string): boolean =>
  text.trim() !== '' && text.trim().length <= 100 && !characterFault(text);

function newRecord(
  config: KeySettings,
  spec: KeySpec,
  keyId: string,
  createdAt: Date,
  key = newApiKey(spec.mode),
): { record: ApiKey; made: NewKey } {
  const { accountId, mode, webhookUrl } = spec;
  const name = checkedName(spec.name);
  if (webhookUrl !== undefined) assertWebhookUrl(config, webhookUrl);
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
    createdAt,
  };
  return { record, made: { keyId, key, mode, name, webhookUrl: webhookUrl ?? null, signingSecret } };
}

/** The keys of an owner (all keys for `anyone`), oldest first, without their secrets. */
export async function listKeys(owner: KeyOwner): Promise<KeyFacts[]> {
  return KeyModel.find(ownedBy(owner), withoutSecrets).sort({ createdAt: 1, _id: 1 }).lean();
}

/** One key, active or revoked, without its secrets. Throws `not_found`, also for a key of another owner. */
export async function findKey(keyId: string, owner: KeyOwner): Promise<KeyFacts> {
  const found = await KeyModel.findOne({ _id: keyId, ...ownedBy(owner) }, withoutSecrets).lean();
  if (!found) throw new AppError('not_found');
  return found;
}

/**
 * Revokes a key: its next request, to any process, is refused. Its rides continue and their events are sent. Like every
 * change below, is made once per form and throws `not_found` for a key that is unknown, revoked or of another owner.
 */
export async function revokeKey(keyId: string, owner: KeyOwner, form?: string): Promise<void> {
  await changeKey(keyId, owner, (_key, now) => ({ set: { revokedAt: now }, unset: { place: 1 } }), form);
}

/** Suspends a key: its requests are refused until `resumeKey`. Its rides continue and their events are sent. */
export async function suspendKey(keyId: string): Promise<void> {
  await changeKey(keyId, 'anyone', (_key, now) => ({ set: { suspendedAt: now } }));
}

/** Accepts a suspended key again, unless its account is suspended. */
export async function resumeKey(keyId: string): Promise<void> {
  await changeKey(keyId, 'anyone', () => ({ unset: { suspendedAt: 1 } }));
}

/** The largest limit of a key, because Redis remembers each creation of the last hour. */
export const maxPerHour = 100_000;

/**
 * Sets the key's own limit on creations, from its next request on; null restores the contract's. Resolves with false if
 * the key already had this limit. Throws `invalid_request` unless 1 <= perMinute <= perHour <= maxPerHour.
 */
export async function limitKey(keyId: string, limit: CreationLimit | null): Promise<boolean> {
  if (limit !== null) assertLimit(limit);
  return setField(keyId, 'anyone', 'limit', limit ?? undefined);
}

function assertLimit({ perMinute, perHour }: CreationLimit): void {
  const isValid = [perMinute, perHour].every(Number.isInteger) && perMinute >= 1 && perHour <= maxPerHour;
  if (!isValid || perMinute > perHour) {
    const message = `The limits must be whole numbers from 1 to ${maxPerHour}, and the hour's not below the minute's`;
    throw new AppError('invalid_request', { message });
  }
}

/** Renames a key. False if it has this name already. Throws `invalid_request` unless it has 1 to 100 characters. */
export async function renameKey(keyId: string, name: string, owner: KeyOwner, form?: string): Promise<boolean> {
  return setField(keyId, owner, 'name', checkedName(name), form);
}

/**
 * Sets the default webhook URL of the key; null removes it. Resolves with false if the key already had this URL. Like a
 * rolled secret, the new URL applies once `untilSettingsApply` has resolved. Throws `invalid_request` for a URL that is
 * not allowed (contract, section 6, rule 2).
 */
export async function setWebhookUrl(
  config: KeySettings,
  keyId: string,
  webhookUrl: string | null,
  owner: KeyOwner,
  form?: string,
): Promise<boolean> {
  if (webhookUrl !== null) assertWebhookUrl(config, webhookUrl);
  return setField(keyId, owner, 'webhookUrl', webhookUrl ?? undefined, form);
}

/**
 * Sets whether passengers are texted about rides that do not say it. Resolves with false if this changes nothing. Like
 * `setWebhookUrl`, it is made once per form.
 */
export const setTexting = (keyId: string, textsPassenger: boolean, owner: KeyOwner, form?: string): Promise<boolean> =>
  setField(keyId, owner, 'textsPassenger', textsPassenger || undefined, form);

/** Sets a field of a key, or removes it, once per form. Resolves with false if the key already had this value. */
async function setField<Field extends 'name' | 'limit' | 'webhookUrl' | 'textsPassenger'>(
  keyId: string,
  owner: KeyOwner,
  field: Field,
  value: ApiKey[Field],
  form?: string,
): Promise<boolean> {
  const change = value === undefined ? { unset: { [field]: 1 } } : { set: { [field]: value } };
  const { applied } = await changeKey(
    keyId,
    owner,
    (key) => ({ ...change, on: [field], isSame: isDeepStrictEqual(key[field], value) }),
    form,
  );
  return applied.isChange;
}

/** The signing secret of the key, for its owner. Throws like `deliverySettings` (delivery-settings.ts). */
export async function viewSigningSecret(
  config: Pick<Config, 'secrets'>,
  keyId: string,
  owner: KeyOwner,
): Promise<string> {
  const found = await keys.findOne(activeKeyOf(keyId, owner));
  if (!found) throw unknownKey();
  return decrypt(found.signingSecret, config.secrets.keys, keyId);
}

function checkedName(name: string): string {
  const fault = characterFault(name);
  if (fault) throw new AppError('invalid_request', { message: `name ${fault}` });
  if (!isKeyName(name)) throw new AppError('invalid_request', { message: 'name must be 1 to 100 characters' });
  return name.trim();
}

function assertWebhookUrl(config: KeySettings, url: string): void {
  const refusal = checkGivenTarget(config, url);
  if (refusal) throw new AppError('invalid_request', { message: `webhookUrl ${refusal}` });
}
