import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { Transform, type TransformCallback } from 'node:stream';
import { AppError } from '../../base/errors.ts';

/**
 * A file encrypted in chunks with AES-256-GCM, so that a large file needs little memory and every chunk is verified
 * before it is used. The file begins with a mark and a random salt, from which its own key is derived. A nonce is the
 * number of the chunk and whether it is the last one, so no chunk can be moved, left out or cut off.
 */
const mark = Buffer.from('RPB1');
const saltLength = 16;
const headLength = mark.length + saltLength;
const chunkLength = 64 * 1_024;
const tagLength = 16;

function nonceOf(chunk: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeUIntBE(chunk, 5, 6);
  nonce[11] = isLast ? 1 : 0;
  return nonce;
}

const keyOf = (key: Buffer, salt: Buffer, name: string): Buffer =>
  Buffer.from(hkdfSync('sha256', key, salt, `backup file ${name}`, 32));

/** Calls `onChunk` with every full chunk that is followed by more bytes, and with the rest at the end. */
function chunked(
  length: number,
  onChunk: (chunk: Buffer, isLast: boolean) => Buffer,
  head = Buffer.alloc(0),
): Transform {
  let waiting = Buffer.alloc(0);
  return new Transform({
    construct(done) {
      if (head.length > 0) this.push(head);
      done();
    },
    transform(bytes: Buffer, _encoding, done) {
      attempt(done, () => {
        waiting = Buffer.concat([waiting, bytes]);
        while (waiting.length > length) {
          this.push(onChunk(waiting.subarray(0, length), false));
          waiting = waiting.subarray(length);
        }
      });
    },
    flush(done) {
      attempt(done, () => this.push(onChunk(waiting, true)));
    },
  });
}

function attempt(done: TransformCallback, work: () => void): void {
  try {
    work();
    done();
  } catch (error) {
    done(error as Error);
  }
}

/** Encrypts the bytes of the file `name`. */
export function encrypting(key: Buffer, name: string): Transform {
  const salt = randomBytes(saltLength);
  const ownKey = keyOf(key, salt, name);
  let count = 0;
  const encrypt = (chunk: Buffer, isLast: boolean) => {
    const cipher = createCipheriv('aes-256-gcm', ownKey, nonceOf(count++, isLast));
    return Buffer.concat([cipher.update(chunk), cipher.final(), cipher.getAuthTag()]);
  };
  return chunked(chunkLength, encrypt, Buffer.concat([mark, salt]));
}

/** Decrypts the bytes of the file `name`. Fails with AppError for another key or a changed or shortened file. */
export function decrypting(key: Buffer, name: string): Transform {
  let head = Buffer.alloc(0);
  let ownKey: Buffer | undefined;
  let count = 0;
  const damaged = () =>
    new AppError('not_found', { message: `${name} does not decrypt: another key, or a damaged file` });
  const decrypt = (chunk: Buffer, isLast: boolean) => {
    if (!ownKey || chunk.length < tagLength) throw damaged();
    const decipher = createDecipheriv('aes-256-gcm', ownKey, nonceOf(count++, isLast));
    decipher.setAuthTag(chunk.subarray(-tagLength));
    try {
      return Buffer.concat([decipher.update(chunk.subarray(0, -tagLength)), decipher.final()]);
    } catch {
      throw damaged();
    }
  };
  const body = chunked(chunkLength + tagLength, decrypt);
  const transform = body._transform.bind(body);
  body._transform = (bytes: Buffer, encoding, done) => {
    if (ownKey) return transform(bytes, encoding, done);
    head = Buffer.concat([head, bytes]);
    if (head.length < headLength) return done();
    if (!head.subarray(0, mark.length).equals(mark)) return done(damaged());
    ownKey = keyOf(key, head.subarray(mark.length, headLength), name);
    return transform(head.subarray(headLength), encoding, done);
  };
  return body;
}

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
