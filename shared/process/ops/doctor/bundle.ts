import fs from 'node:fs/promises';
import os from 'node:os';
import { gzipSync } from 'node:zlib';
import { createTar } from 'nanotar';
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
  // Codes of Node, OpenSSL and mail servers: `ECONNREFUSED`, `EENVELOPE 550`, `ERR_TLS_CERT_ALTNAME_INVALID`.
  /^(?:E[A-Z]{3,}|[A-Z]{3,}(?:_[A-Z\d]+)+)(?: \d{3})?$/,
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

/**
 * The words of the service's own messages and codes: `delivered`, `webhooks-slow`, `held by another run`. A word that
 * is not here may be a client's. A test compares this list with the messages in the code.
 */
const words: ReadonlySet<string> = new Set(
  `
  a about accept accepts account active add added address adds after again agree ahead allows an another answer answers
  api append are arrive arrived arriving attempt attempts auto backlog bad be before bidding blocked boards body busy
  by cancelled cancels cannot changed check claim client clients clock clocks closing cluster code collected collector
  complete completed concurrency configured connect connection could counted counter created customer damaged dashboard
  days decline delivered delivers delivery did differ differs disk dispatch dns docs doctor does done drive driver
  drivers dropped early ending erased error event events evict evicts exiting exist expired failed failing failure
  failures fares fault file files five fleet flight followed for free front full grace grows handed has have he header
  headers health held here host id in index inserted interrupted is it its job jobs just key keys known last late lease
  less limit limits lines listening listens live loading log long longer loses lost made mail mails many marked
  maxmemory may memory message metrics migrate minute minutes missing mongo moved must name next no noeviction not of
  offer offers offline one only open opened opening opens operator operators ops or other outcome outdated output over
  partner passed period persistent pickup plain policy polls postpones process progress proxy queue ratings reachable
  read readonly ready receives record recorded redelivery redis refused released request reset response restart rests
  retention returned ride rides right round route routing row run s search secret secrets sends sent sentinel server
  sessions set setting settings settled share shares show sign sign-in signing similar simulator skipped slot slow smtp
  stale stall stalled standard start status step stopped stored streams success such summed support suspended sweep
  sweeper sweeper's system test than the their them this three throttled timeout timers tls to token's too traces track
  trusted turn two unable unavailable unknown unreachable unrecordable until url usage waiting waits wall warnings was
  webhook webhooks were will with withdraw withdrawal withdraws without work worker working writes wrong yet
`.split(/\s+/),
);
const isOwnCode = (text: string): boolean =>
  /^[a-z]/.test(text) && text.split(/[ _-]|(?=[A-Z])/).every((word) => words.has(word.toLowerCase()));

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
    return plainValuesOf[name]?.test(value) ?? (isOwnCode(value) || plainValues.some((plain) => plain.test(value)));
  if (Array.isArray(value)) return value.every((one) => isSafe(name, one));
  if (typeof value === 'object' && value !== null) return Object.entries(value).every((entry) => isSafe(...entry));
  // A phone number can be a number.
  return typeof value !== 'number' || Math.abs(value) < 1e8;
}

const names: readonly string[] = [
  'MongoDB',
  'Redis',
  'Prometheus',
  'API',
  'URL',
  'HTTPS',
  'SECRETS_KEY',
  'X-Forwarded-For',
];

/** Replaces each word that the service does not write itself, and each number of more than three digits, by `…`. */
function safeMessage(msg: string): string {
  const isOwn = (word: string) => names.includes(word) || words.has(word) || /^\d{1,3}$/.test(word);
  return msg
    .slice(0, 200)
    .split(/\s+/)
    .map((word) => (isOwn(word.replace(/^[('"]+|[)'",.:;]+$/g, '').replace(/'s$/, '')) ? word : '…'))
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

/** A gzipped tar archive of text files. Names have at most 99 characters. */
export function tarGz(files: Readonly<Record<string, string>>, at: Date): Buffer {
  const attrs = { mode: '600', uid: 0, gid: 0, mtime: at.getTime() };
  const archive = createTar(
    Object.entries(files).map(([name, data]) => ({ name, data })),
    { attrs },
  );
  // `createTar` leaves out the two empty blocks at the end if the files fill its last record.
  return gzipSync(Buffer.concat([archive, Buffer.alloc(1_024)]));
}
