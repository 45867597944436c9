import fs from 'node:fs/promises';
import os from 'node:os';
import { gzipSync } from 'node:zlib';
import { describeError } from '../../../base/errors.ts';
import { onlyAllowed } from '../../../base/logger.ts';
import type { Finding } from './findings.ts';

/** Each log is read from its end, at most this much. */
const lastBytes = 5_000_000;

/**
 * The last lines of a log, with the fields that log lines may have. Leaves out every line that is no JSON object, every
 * value that is no id, code, number, time or route, and the words of a message that may be names or keys.
 */
export async function safeLogLines(file: string): Promise<string[]> {
  const handle = await fs.open(file);
  try {
    const { size } = await handle.stat();
    const start = Math.max(0, size - lastBytes);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
    const lines = buffer.subarray(0, bytesRead).toString('utf8').split('\n');
    // The first line may be incomplete.
    return (start > 0 ? lines.slice(1) : lines).flatMap(safeLine);
  } finally {
    await handle.close();
  }
}

/** The values that may be shown; any other text may be a name, a key or an address. */
const plainValues: readonly RegExp[] = [
  /^(?:ride|key|acct|driver|offer|att|attempt|mail|evt|audit)_[\dA-Za-z]{8,40}(?:_\d+)?$/,
  /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/,
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
  // Codes: `delivered`, `webhooks-slow`, `claimed by another run`, `ECONNREFUSED`, `EENVELOPE 550`, `MongoNetworkError`.
  /^[a-z_]+(?:[ -][a-z_]+)*$/,
  /^[A-Z][A-Z\d_]+(?: \d{3})?$/,
  /^(?:[A-Z][a-z]+){2,}$|^[a-z]+(?:[A-Z][a-z]+)+$|^Error$/,
];
const plainValuesOf: Partial<Record<string, RegExp>> = {
  // A client can choose the id of its request, so only a generated one is shown.
  requestId: /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/,
  route: /^(?:[A-Z]+ )?(?:\/(?:v\d|[a-z.-]+|:\w+)?)+$/,
  // Without the folders of a person.
  at: /^(?!.*\/(?:home|Users)\/)(?:(?: \| )?at [\w.<> [\]]{0,80}\(?[\w@+./:-]{1,200}:\d+:\d+\)?)+$/,
  name: /^(?:[A-Z][a-z]+){2,}$|^(?:[A-Z][A-Za-z]+)?Error(?: <- (?:[A-Z][A-Za-z]+)?Error)?$/,
};
/** Fields that may contain the path of a request, and so the token of a live map, or an address. */
const unsafeFields: readonly string[] = ['path', 'host'];

function safeLine(line: string): string[] {
  const fields = parsed(line);
  if (!fields) return [];
  const { time, level, process, msg, ...others } = fields;
  const safe = Object.entries(onlyAllowed(others)).flatMap(([name, value]): [string, unknown][] =>
    unsafeFields.includes(name) || !isSafe(name, value) ? [] : [[name, value]],
  );
  const head = Object.fromEntries(
    Object.entries({ time, level, process }).filter(([name, value]) => value !== undefined && isSafe(name, value)),
  );
  return [
    JSON.stringify({ ...head, ...(typeof msg === 'string' && { msg: safeMessage(msg) }), ...Object.fromEntries(safe) }),
  ];
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    const value = JSON.parse(line);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function isSafe(name: string, value: unknown): boolean {
  if (typeof value === 'string')
    return plainValuesOf[name]?.test(value) ?? plainValues.some((plain) => plain.test(value));
  if (Array.isArray(value)) return value.every((one) => isSafe(name, one));
  if (typeof value === 'object' && value !== null) return Object.entries(value).every((entry) => isSafe(...entry));
  // A phone number can be a number.
  return typeof value !== 'number' || Math.abs(value) < 1e8;
}

const knownWords: readonly string[] = ['MongoDB', 'Redis', 'Prometheus', 'API', 'URL', 'HTTPS', 'SECRETS_KEY'];

/** Replaces each word that does not begin with a small letter, and each word with digits, by `…`. */
function safeMessage(msg: string): string {
  const words = msg.slice(0, 200).split(/\s+/);
  return words
    .map((word) => (knownWords.includes(word.replace(/\W/g, '')) || /^[\p{Ll}'’,.:;()-]+$/u.test(word) ? word : '…'))
    .join(' ');
}

/** The findings without these names and without the addresses of servers: a folder or a host may name a person. */
export const findingsWithout = (names: readonly string[], findings: readonly Finding[]): Finding[] =>
  findings.map((finding) => ({
    ...finding,
    found: names
      .reduce((found, name) => (name ? found.replaceAll(name, '…') : found), finding.found)
      .replace(/[\w.-]+:\d{2,5}\b/g, '…'),
  }));

export const versions = () => ({
  node: process.version,
  platform: `${os.platform()} ${os.release()} ${os.arch()}`,
  cpus: os.cpus().length,
  memoryGb: Math.round(os.totalmem() / 1e8) / 10,
});

/** The result of `read`, or the name of its error: a part that cannot be read must not prevent the bundle. */
export async function orError(read: () => Promise<unknown>): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    const { name, code } = describeError(error);
    return { error: [name, code].filter(Boolean).join(' ') };
  }
}

const blockSize = 512;

/** A gzipped tar archive of text files (ustar). Names have at most 99 characters. */
export function tarGz(files: Readonly<Record<string, string>>, at: Date): Buffer {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const content = Buffer.from(text);
    const padding = Buffer.alloc((blockSize - (content.length % blockSize)) % blockSize);
    return [tarHead(name, content.length, at), content, padding];
  });
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(2 * blockSize)]));
}

function tarHead(name: string, size: number, at: Date): Buffer {
  const head = Buffer.alloc(blockSize);
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`;
  head.write(name, 0, 99);
  head.write(octal(0o600, 8), 100);
  head.write(octal(0, 8), 108);
  head.write(octal(0, 8), 116);
  head.write(octal(size, 12), 124);
  head.write(octal(Math.floor(at.getTime() / 1_000), 12), 136);
  head.write('        0', 148);
  head.write('ustar\x0000', 257);
  const sum = head.reduce((all, byte) => all + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return head;
}
