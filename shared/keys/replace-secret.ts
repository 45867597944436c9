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
  /** Names the secret that its sender saw in use (`seenSecret`). Missing in a form of an earlier version. */
  seen?: string;
  /** When the request arrived. */
  arrivedAt: Date;
};

/**
 * The answer to a form that replaced a secret at this time. The secret is missing where another session sent the form, or where
 * it is no longer in use.
 */
type Replaced<Secret extends object> = { keyId: string; at: Date } & Partial<Secret>;

/** Names the API key or the signing secret that is in use, without showing it: a form says which one it replaces. */
export const seenSecret = {
  rotate: ({ rotatedAt }: Pick<ApiKey, 'rotatedAt'>): string => String(rotatedAt?.getTime() ?? 0),
  roll: ({ rolledAt }: Pick<ApiKey, 'rolledAt'>): string => String(rolledAt?.getTime() ?? 0),
};

const replacedMeanwhile = {
  rotate: 'Somebody rotated this key a moment ago. Nothing was changed now.',
  roll: 'Somebody rolled this signing secret a moment ago. Nothing was changed now.',
};

/**
 * Gives the key a new secret and returns it; it cannot be read again. The old secret stops working at once; rides,
 * webhook URL, signing secret and counts stay (contract, section 5.5). Throws `key_changed` when another rotation was
 * first, and `not_found` as every change of a key does.
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

/** As `rotateKey`, once for each form. The same form in the same session gets the same key again, while it is in use. */
export async function rotateByForm(
  { secrets }: Secrets,
  keyId: string,
  owner: KeyOwner,
  form: ReplacingForm,
): Promise<Replaced<{ key: string }>> {
  const candidates = (mode: Mode) => apiKeysOf(secrets, keyId, mode, form);
  const { before, applied, isRepeat } = await rotate(keyId, owner, ({ mode }) => candidates(mode)[0], form);
  const found = candidates(before.mode);
  const key = isRepeat ? found.find((candidate) => sha256(candidate) === before.hash) : found[0];
  return { keyId, at: applied.at, ...(key && !before.revokedAt && { key }) };
}

function rotate(keyId: string, owner: KeyOwner, newSecret: (key: ApiKey) => string, form: Asked): Promise<ChangedKey> {
  let read: ApiKey | undefined;
  return changeKey(
    keyId,
    owner,
    (key, now) => {
      if ((read && read.hash !== key.hash) || isStale(form, key, 'rotate')) throw lost('rotate');
      read = key;
      const secret = newSecret(key);
      const set = { hash: sha256(secret), hint: keyHint(secret), rotatedAt: now };
      return { set, on: ['hash'] };
    },
    form.id,
  );
}

/**
 * Gives the key a new signing secret. Every request written after `untilSettingsApply` is signed with it (contract, section
 * 6, rule 7): the caller waits for that before it answers. Throws as `rotateKey` does.
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

/** As `rollSigningSecret`, once for each form. The same form in the same session gets the same secret again. */
export async function rollByForm(
  config: Secrets,
  keyId: string,
  owner: KeyOwner,
  form: ReplacingForm,
): Promise<Replaced<{ signingSecret: string }>> {
  const derived = secretsFor(config.secrets, 'new signing secrets', sourceOf(keyId, form));
  const [first, ...others] = derived.map(newSigningSecret) as [string, ...string[]];
  const { before, applied, isRepeat } = await roll(config, keyId, owner, first, form);
  const { at } = applied;
  if (!isRepeat) return { keyId, at, signingSecret: first };
  const inUse = opened(config, before);
  return { keyId, at, ...([first, ...others].includes(inUse) && !before.revokedAt && { signingSecret: inUse }) };
}

function roll(
  config: Secrets,
  keyId: string,
  owner: KeyOwner,
  signingSecret: string,
  form: Asked,
): Promise<ChangedKey> {
  let read: ApiKey | undefined;
  return changeKey(
    keyId,
    owner,
    (key, now) => {
      // `rekey` encrypts the same secret anew, which is no roll.
      const isOther = read && read.signingSecret !== key.signingSecret && opened(config, read) !== opened(config, key);
      if (isOther || isStale(form, key, 'roll')) throw lost('roll');
      read = key;
      const set = { signingSecret: encrypt(signingSecret, config.secrets.keys, keyId), rolledAt: now };
      return { set, on: ['signingSecret'] };
    },
    form.id,
  );
}

/**
 * The key that a form has made or can make, under each listed SECRETS_KEY. Only one whose hash is stored is in use: the first
 * SECRETS_KEY may be another than at the first sending.
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

/** A form, or a command of the command line. */
type Asked = Pick<ReplacingForm, 'seen' | 'arrivedAt'> & { id?: string };

/** A replacement that lies further ahead of a request is of a clock that was set back since, and refuses nothing. */
const slowestRequestMs = 60_000;

/** Whether the secret was replaced since the sender saw it, or while the request was under way. */
function isStale({ seen, arrivedAt }: Asked, key: ApiKey, what: keyof typeof seenSecret): boolean {
  const replacedAt = what === 'rotate' ? key.rotatedAt : key.rolledAt;
  if (seen) return seen !== seenSecret[what](key);
  const aheadMs = (replacedAt?.getTime() ?? 0) - arrivedAt.getTime();
  return aheadMs > 0 && aheadMs < slowestRequestMs;
}

const lost = (which: keyof typeof replacedMeanwhile) =>
  new AppError('key_changed', { message: replacedMeanwhile[which] });

/** Empty where the stored secret does not decrypt: a roll is the remedy for that. */
function opened({ secrets }: Secrets, { _id, signingSecret }: ApiKey): string {
  try {
    return decrypt(signingSecret, secrets.keys, _id);
  } catch {
    return '';
  }
}
