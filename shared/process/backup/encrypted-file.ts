import { Readable } from 'node:stream';
import { AppError } from '../../base/errors.ts';

/** A step of a pipeline, which needs little memory for a large file. */
type Step = (bytes: AsyncIterable<Uint8Array>) => AsyncIterable<Uint8Array>;

/** The package is loaded only when it is needed: that takes longer than most commands. */
const loadAge = () => import('age-encryption');

/** The passphrase for `age --decrypt`: the line of the key file. */
const passphraseOf = (key: Buffer): string => key.toString('base64');

const webStreamOf = (bytes: AsyncIterable<Uint8Array>) => Readable.toWeb(Readable.from(bytes)) as ReadableStream;

/** Encrypts a file in the format of age (age-encryption.org). Without a key, the bytes stay as they are. */
export const encrypting = (key?: Buffer): Step =>
  async function* (bytes) {
    if (!key) return yield* bytes;
    const { Encrypter } = await loadAge();
    const encrypter = new Encrypter();
    encrypter.setPassphrase(passphraseOf(key));
    // Many rounds protect short passphrases. This one has 256 random bits.
    encrypter.setScryptWorkFactor(10);
    yield* await encrypter.encrypt(webStreamOf(bytes));
  };

/** Decrypts a file, and yields only verified bytes. Throws AppError for another key or a damaged file. */
export const decrypting = (name: string, key?: Buffer): Step =>
  async function* (bytes) {
    if (!key) return yield* bytes;
    const { Decrypter } = await loadAge();
    const decrypter = new Decrypter();
    decrypter.addPassphrase(passphraseOf(key));
    try {
      yield* await decrypter.decrypt(webStreamOf(bytes));
    } catch {
      throw new AppError('not_found', { message: `${name} does not decrypt: another key, or a damaged file` });
    }
  };

/** Reads a key: 32 random bytes in base64, such as `openssl rand -base64 32` prints. Throws AppError for other texts. */
export function readBackupKey(text: string): Buffer {
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== 32) {
    throw new AppError('invalid_request', {
      message: 'The key file must have 32 bytes in base64 (openssl rand -base64 32)',
    });
  }
  return key;
}
