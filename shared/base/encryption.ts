import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

const algorithm = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** One key of `SECRETS_KEY`. Printing a KeyObject does not show the key. */
export interface SecretsKey {
  /** Identifies the key in each ciphertext. Derived from the key by HMAC, so it reveals nothing about the key. */
  readonly id: string;
  readonly key: KeyObject;
}

/** The keys of `SECRETS_KEY`: the first encrypts, all decrypt. */
export type SecretsKeys = readonly [SecretsKey, ...SecretsKey[]];

/** Thrown if a ciphertext names a key that this process does not have. */
export class SecretsKeyMissing extends Error {
  override name = 'SecretsKeyMissing';
  constructor(id: string) {
    super(`SECRETS_KEY lacks the key ${id}`);
  }
}

/** Thrown for a ciphertext that its key does not decrypt: it was modified, or belongs to another record. */
export class SecretDamaged extends Error {
  override name = 'SecretDamaged';
  constructor() {
    super('The ciphertext is damaged');
  }
}

/** Makes a key from 32 bytes. */
export function secretsKey(bytes: Buffer): SecretsKey {
  const id = createHmac('sha256', bytes).update('the id of a secrets key').digest('hex').slice(0, 8);
  return { id, key: createSecretKey(bytes) };
}

/** Prefix of every ciphertext. */
export const namedPrefix = 'key:';
/** Prefix of every ciphertext of one key. */
export const prefixOf = ({ id }: Pick<SecretsKey, 'id'>): string => `${namedPrefix}${id}:`;

/**
 * Encrypts a signing secret with the first key, by AES-256-GCM. Signing secrets can be viewed again, so they are
 * encrypted and not hashed. `belongsTo`, the record's id, is authenticated: a ciphertext copied to another record does
 * not decrypt.
 */
export function encrypt(plain: string, [first]: SecretsKeys, belongsTo: string): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, first.key, iv).setAAD(Buffer.from(belongsTo));
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return prefixOf(first) + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
}

/** Decrypts a ciphertext of the record `belongsTo`. Throws SecretsKeyMissing or SecretDamaged. */
export function decrypt(text: string, keys: SecretsKeys, belongsTo: string): string {
  const [, id = '', sealed = ''] = text.startsWith(namedPrefix) ? text.split(':') : [];
  const named = keys.find((key) => key.id === id);
  if (named) return decryptWith(sealed, named, belongsTo);
  throw /^[0-9a-f]{8}$/.test(id) ? new SecretsKeyMissing(id) : new SecretDamaged();
}

function decryptWith(sealed: string, { key }: SecretsKey, belongsTo: string): string {
  const bytes = Buffer.from(sealed, 'base64');
  try {
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes })
      .setAAD(Buffer.from(belongsTo))
      .setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes));
    return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8');
  } catch {
    throw new SecretDamaged();
  }
}
