import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const algorithm = 'aes-256-gcm';

/**
 * Signing secrets can be viewed again, so they are not hashed but encrypted at rest. `belongsTo` (the key's id) is bound
 * in, so that a ciphertext that is copied to another record does not open there.
 */
export function encrypt(plain: string, encryptionKey: Buffer, belongsTo: string): string {
  const iv = randomBytes(12);
  const cipher = createCipheriv(algorithm, encryptionKey, iv).setAAD(Buffer.from(belongsTo));
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
}

/** Throws when the text was changed, or was sealed with another key or for another record. */
export function decrypt(text: string, encryptionKey: Buffer, belongsTo: string): string {
  const bytes = Buffer.from(text, 'base64');
  const decipher = createDecipheriv(algorithm, encryptionKey, bytes.subarray(0, 12), { authTagLength: 16 })
    .setAAD(Buffer.from(belongsTo))
    .setAuthTag(bytes.subarray(12, 28));
  return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
}
