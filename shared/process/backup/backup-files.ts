import { createHash, createHmac } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import mongoose from 'mongoose';
import { AppError } from '../../base/errors.ts';

const { BSON } = mongoose.mongo;
/** A stored document, whose numbers keep their BSON types. */
export type StoredDocument = Record<string, unknown> & { _id: unknown };

export interface StoredFile {
  file: string;
  documents: number;
  bytes: number;
  sha256: string;
}

/** The description of a backup, in the file manifest.json. It is written last: a backup without it is incomplete. */
export interface Manifest {
  format: 1;
  startedAt: string;
  endedAt: string;
  isEncrypted: boolean;
  /** The collections in the order in which they were copied: each one before those that its documents refer to. */
  collections: ({ name: string } & StoredFile)[];
  /** HMAC of the other fields with the key of an encrypted backup. */
  mac?: string;
}

const manifestFile = 'manifest.json';
const bsonOptions = { promoteValues: false } as const;
/** The files contain personal data. */
const onlyOwner = 0o600;

/** Writes documents to a compressed file of BSON documents, one after the other, as `mongodump` does. */
export async function writeDocuments(
  folder: string,
  name: string,
  documents: AsyncIterable<StoredDocument>,
  key?: Buffer,
): Promise<StoredFile> {
  const file = `${name}.bson.gz${key ? '.age' : ''}`;
  const hash = createHash('sha256');
  let [count, bytes] = [0, 0];
  async function* serialized() {
    for await (const document of documents) {
      count += 1;
      yield BSON.serialize(document, { ignoreUndefined: false });
    }
  }
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  const target = createWriteStream(path.join(folder, file), { mode: onlyOwner, flags: 'wx', flush: true });
  await pipeline(
    Readable.from(serialized(), { objectMode: false }),
    createGzip({ level: 4 }),
    encrypting(key),
    measure,
    target,
  );
  return { file, documents: count, bytes, sha256: hash.digest('hex') };
}

/** Reads the documents of a file. Throws AppError if the file is damaged. */
export async function* readDocuments(
  folder: string,
  { name, file }: Pick<Manifest['collections'][number], 'name' | 'file'>,
  key?: Buffer,
): AsyncGenerator<StoredDocument> {
  const plain = createGunzip();
  const copied = pipeline(createReadStream(path.join(folder, path.basename(file))), decrypting(name, key), plain);
  copied.catch(() => {});
  let waiting = Buffer.alloc(0);
  try {
    for await (const chunk of plain) {
      waiting = waiting.length > 0 ? Buffer.concat([waiting, chunk]) : chunk;
      for (;;) {
        const length = waiting.length >= 4 ? waiting.readInt32LE(0) : Number.POSITIVE_INFINITY;
        if (waiting.length < length) break;
        yield BSON.deserialize(waiting.subarray(0, length), bsonOptions) as StoredDocument;
        waiting = waiting.subarray(length);
      }
    }
    await copied;
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw refused(`${file} is damaged`);
  }
  if (waiting.length > 0) throw refused(`${file} ends within a document`);
}

const macOf = ({ mac: _, ...manifest }: Manifest, key: Buffer): string =>
  createHmac('sha256', key)
    .update(`backup manifest ${JSON.stringify(manifest)}`)
    .digest('hex');

/** Creates the folder of a backup. Throws AppError if it has content. */
export async function createBackupFolder(folder: string): Promise<void> {
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const [content] = await fs.readdir(folder);
  if (content !== undefined) throw refused(`The folder ${folder} is not empty`);
}

export async function writeManifest(folder: string, manifest: Manifest, key?: Buffer): Promise<void> {
  const text = JSON.stringify({ ...manifest, ...(key && { mac: macOf(manifest, key) }) }, null, 2);
  const unfinished = path.join(folder, `${manifestFile}.part`);
  await fs.writeFile(unfinished, `${text}\n`, { mode: onlyOwner, flush: true });
  await fs.rename(unfinished, path.join(folder, manifestFile));
}

/** Reads the manifest and verifies all checksums. Throws AppError if a file is missing or damaged, or the key wrong. */
export async function verifiedManifest(folder: string, key?: Buffer): Promise<Manifest> {
  const text = await fs.readFile(path.join(folder, manifestFile), 'utf8').catch(() => {
    throw refused(`${folder} has no ${manifestFile}: it is no complete backup`);
  });
  let manifest: Manifest;
  try {
    manifest = JSON.parse(text);
  } catch {
    throw refused(`${manifestFile} is damaged`);
  }
  if (manifest.format !== 1) throw refused(`${manifestFile} has an unknown format`);
  if (manifest.isEncrypted && !key) throw refused('The backup is encrypted: --key-file is needed');
  if (!manifest.isEncrypted && key) throw refused('The backup is not encrypted: --key-file does not fit');
  if (key && manifest.mac !== macOf(manifest, key)) throw refused(`${manifestFile} does not fit this key`);
  for (const { file, sha256 } of manifest.collections) {
    const hash = createHash('sha256');
    const read = pipeline(createReadStream(path.join(folder, path.basename(file))), hash);
    await read.catch(() => Promise.reject(refused(`${file} cannot be read`)));
    if (hash.digest('hex') !== sha256) throw refused(`${file} does not have the checksum of the manifest`);
  }
  return manifest;
}

/** The error of a backup that cannot be written, read or restored. */
export const refused = (message: string): AppError => new AppError('invalid_request', { message });

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
    throw refused('The key file must have 32 bytes in base64 (openssl rand -base64 32)');
  }
  return key;
}
