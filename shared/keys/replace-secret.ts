import { secretsFor } from '../accounts/derived-keys.ts';
import type { SentForm } from '../accounts/sent-form.ts';
import type { Config } from '../base/config.ts';
import { decrypt, encrypt } from '../base/encryption.ts';
import { AppError } from '../base/errors.ts';
import { sha256 } from '../base/ids.ts';
import { mongoNow } from '../base/mongo/clock.ts';
import type { Mode } from '../base/terms.ts';
import type { ApiKey } from './api-key.ts';
import { type ChangedKey, changeKey, type KeyOwner } from './change-key.ts';
import { keyHint, newApiKey, newSigningSecret } from './key-format.ts';

type Secrets = Pick<Config, 'secrets'>;

/** A form that replaces a secret. */
export type ReplacingForm = SentForm & {
  /** The version of the secret that was current when the form was shown (`secretVersion`). */
  seen: string;
  /** The time at which the request arrived. */
  arrivedAt: Date;
};

/** The secret that a form put in use at `at`. Missing if another session sent the form, or once it is replaced. */
type ReplaceResult<Secret extends object> = { keyId: string; at: Date } & Partial<Secret>;

/**
 * The version of the current API key or signing secret (also of an endpoint's), which does not reveal the secret. A form names the version that
 * it replaces, so that it cannot replace a newer one.
 */
export const secretVersion = {
  rotate: ({ rotatedAt }: Pick<ApiKey, 'rotatedAt'>): string => String(rotatedAt?.getTime() ?? 0),
  roll: ({ rolledAt }: Pick<ApiKey, 'rolledAt'>): string => String(rolledAt?.getTime() ?? 0),
};

const conflictMessages = {
  rotate: 'Somebody rotated this key a moment ago. Nothing was changed now.',
  roll: 'Somebody rolled this signing secret a moment ago. Nothing was changed now.',
};

/**
 * Gives the key a new secret and returns the secret, which cannot be read again. The old secret stops working at once.
 * Everything else of the key stays the same: rides, webhook URL, signing secret and counts (contract, section 5.5).
 * Throws `key_changed` if another rotation was first, and `not_found` like every change of a key.
 */
export async function rotateKey(keyId: string, owner: KeyOwner): Promise<{ keyId: string; key: string }> {
  let key = '';
  const newSecret = ({ mode }: ApiKey) => {
    key = newApiKey(mode);
    return key;
  };
  await rotate(keyId, owner, newSecret, { arrivedAt: await mongoNow() });
  return { keyId, key };
}

/** Like `rotateKey`, but once per form: a repeat in the same session gets the same key while it is in use. */
export async function rotateByForm(
  { secrets }: Secrets,
  keyId: string,
  owner: KeyOwner,
  form: ReplacingForm,
): Promise<ReplaceResult<{ key: string }>> {
  const candidates = (mode: Mode) => apiKeysOf(secrets, keyId, mode, form);
  const { before, applied, isRepeat } = await rotate(keyId, owner, ({ mode }) => candidates(mode)[0], form);
  const found = candidates(before.mode);
  const key = isRepeat ? found.find((candidate) => sha256(candidate) === before.hash) : found[0];
  return { keyId, at: applied.at, ...(key && !before.revokedAt && { key }) };
}

function rotate(
  keyId: string,
  owner: KeyOwner,
  newSecret: (key: ApiKey) => string,
  form: ReplaceRequest,
): Promise<ChangedKey> {
  let read: ApiKey | undefined;
  return changeKey(
    keyId,
    owner,
    (key, now) => {
      if ((read && read.hash !== key.hash) || isStale(form, key, 'rotate')) throw keyChanged('rotate');
      read = key;
      const secret = newSecret(key);
      const set = { hash: sha256(secret), hint: keyHint(secret), rotatedAt: now };
      return { set, on: ['hash'] };
    },
    form.id,
  );
}

/**
 * Gives the key a new signing secret. The caller waits for `untilSettingsApply` before it responds, because every later
 * request is signed with the new secret (contract, section 6, rule 7). Throws like `rotateKey`.
 */
export async function rollSigningSecret(
  config: Secrets,
  keyId: string,
  owner: KeyOwner,
): Promise<{ keyId: string; signingSecret: string }> {
  const signingSecret = newSigningSecret();
  await roll(config, keyId, owner, signingSecret, { arrivedAt: await mongoNow() });
  return { keyId, signingSecret };
}

/** Like `rollSigningSecret`, but once per form. A repeated form in the same session gets the same secret again. */
export async function rollByForm(
  config: Secrets,
  keyId: string,
  owner: KeyOwner,
  form: ReplacingForm,
): Promise<ReplaceResult<{ signingSecret: string }>> {
  const derived = secretsFor(config.secrets, 'new signing secrets', sourceOf(keyId, form));
  const [first, ...others] = derived.map(newSigningSecret) as [string, ...string[]];
  const { before, applied, isRepeat } = await roll(config, keyId, owner, first, form);
  const { at } = applied;
  if (!isRepeat) return { keyId, at, signingSecret: first };
  const inUse = decryptOrEmpty(config, before);
  return { keyId, at, ...([first, ...others].includes(inUse) && !before.revokedAt && { signingSecret: inUse }) };
}

function roll(
  config: Secrets,
  keyId: string,
  owner: KeyOwner,
  signingSecret: string,
  form: ReplaceRequest,
): Promise<ChangedKey> {
  let read: ApiKey | undefined;
  return changeKey(
    keyId,
    owner,
    (key, now) => {
      // Compares the secrets, because `rekey` stores another ciphertext of the same secret, which is not a roll.
      const isOther =
        read &&
        read.signingSecret !== key.signingSecret &&
        decryptOrEmpty(config, read) !== decryptOrEmpty(config, key);
      if (isOther || isStale(form, key, 'roll')) throw keyChanged('roll');
      read = key;
      const set = { signingSecret: encrypt(signingSecret, config.secrets.keys, keyId), rolledAt: now };
      return { set, on: ['signingSecret'] };
    },
    form.id,
  );
}

/**
 * The keys that a form can have created, one for each listed SECRETS_KEY, because the first SECRETS_KEY may have
 * changed since the form was first sent. The key whose hash is stored is in use.
 */
export function apiKeysOf(
  secrets: Config['secrets'],
  keyId: string,
  mode: Mode,
  form: SentForm,
): [string, ...string[]] {
  return secretsFor(secrets, 'new API keys', sourceOf(keyId, form)).map((secret) => newApiKey(mode, secret)) as [
    string,
    ...string[],
  ];
}

const sourceOf = (keyId: string, { id, session }: SentForm): string => `${keyId} ${id} ${session}`;

/** A request to replace a secret: a form (with `id`), or a command from the command line. */
type ReplaceRequest = Pick<ReplacingForm, 'arrivedAt'> & Partial<Pick<ReplacingForm, 'seen' | 'id'>>;

/** A replacement this much later than the request is ignored: MongoDB's clock was set back after it. */
const slowestRequestMs = 60_000;

/** True if the secret was replaced after the sender saw it, or while the request was in flight. */
function isStale({ seen, arrivedAt }: ReplaceRequest, key: ApiKey, what: keyof typeof secretVersion): boolean {
  const replacedAt = what === 'rotate' ? key.rotatedAt : key.rolledAt;
  if (seen) return seen !== secretVersion[what](key);
  const aheadMs = (replacedAt?.getTime() ?? 0) - arrivedAt.getTime();
  return aheadMs > 0 && aheadMs < slowestRequestMs;
}

/** The error of a change that another one has overtaken. */
export const keyChanged = (which: keyof typeof conflictMessages) =>
  new AppError('key_changed', { message: conflictMessages[which] });

/** The stored secret, or an empty text if it does not decrypt. A roll must work even then, because it is the remedy. */
function decryptOrEmpty({ secrets }: Secrets, { _id, signingSecret }: ApiKey): string {
  try {
    return decrypt(signingSecret, secrets.keys, _id);
  } catch {
    return '';
  }
}
