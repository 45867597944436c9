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

/** One key of `SECRETS_KEY`. A KeyObject shows nothing of the key where it is printed. */
export interface SecretsKey {
  /** Names the key in each ciphertext. It follows from the key and gives nothing of it away. */
  readonly id: string;
  readonly key: KeyObject;
}

/** The keys of `SECRETS_KEY`: the first encrypts, all decrypt. */
export type SecretsKeys = readonly [SecretsKey, ...SecretsKey[]];

/** The ciphertext names a key that this process does not have: with that key it would open. */
export class SecretsKeyMissing extends Error {
  override name = 'SecretsKeyMissing';
  constructor(id?: string) {
    super(id ? `SECRETS_KEY lacks the key ${id}` : 'SECRETS_KEY has no key that opens this ciphertext');
  }
}

/** The ciphertext of a known key does not open: it was changed, or belongs to another record. No key will open it. */
export class SecretDamaged extends Error {
  override name = 'SecretDamaged';
  constructor() {
    super('The ciphertext is damaged');
  }
}

/** The key of these 32 bytes. */
export function secretsKey(bytes: Buffer): SecretsKey {
  const id = createHmac('sha256', bytes).update('the id of a secrets key').digest('hex').slice(0, 8);
  return { id, key: createSecretKey(bytes) };
}

/** How every named ciphertext begins. Base64 has no colon, so no ciphertext from before keys had ids begins like this. */
export const namedPrefix = 'key:';
/** How the ciphertexts of one key begin. */
export const prefixOf = ({ id }: Pick<SecretsKey, 'id'>): string => `${namedPrefix}${id}:`;

/**
 * Signing secrets can be viewed again, so they are not hashed but encrypted at rest. `belongsTo` (the key's id) is bound
 * in, so that a ciphertext that is copied to another record does not open there.
 */
export function encrypt(plain: string, [first]: SecretsKeys, belongsTo: string): string {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(algorithm, first.key, iv).setAAD(Buffer.from(belongsTo));
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return prefixOf(first) + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
}

/**
 * Opens what `encrypt` has sealed for the same record. Throws SecretsKeyMissing or SecretDamaged. A ciphertext without a
 * key's name is tried with every key; where none opens it, its key may be one that is not listed, so it counts as missing.
 */
export function decrypt(text: string, keys: SecretsKeys, belongsTo: string): string {
  if (!text.startsWith(namedPrefix)) return decryptUnnamed(text, keys, belongsTo);
  const [, id = '', sealed = ''] = text.split(':');
  const named = keys.find((key) => key.id === id);
  if (named) return open(sealed, named, belongsTo);
  throw /^[0-9a-f]{8}$/.test(id) ? new SecretsKeyMissing(id) : new SecretDamaged();
}

function decryptUnnamed(text: string, keys: SecretsKeys, belongsTo: string): string {
  if (Buffer.from(text, 'base64').length < ivBytes + tagBytes) throw new SecretDamaged();
  for (const key of keys) {
    try {
      return open(text, key, belongsTo);
    } catch {
      // Another key may open it.
    }
  }
  throw new SecretsKeyMissing();
}

function open(sealed: string, { key }: SecretsKey, belongsTo: string): string {
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
