import { brotliDecompressSync, constants, gunzipSync, inflateSync } from 'node:zlib';
import { type AttemptPhase, type AttemptRecord, attemptPhases, type RecordedOutcome } from '../webhooks/attempts.ts';

/** At most this much of an answer's body is kept. */
export const answerBytes = 1_024;

/** Details of one attempt, for the dashboard. */
export interface Trace {
  phase: AttemptPhase;
  /** The start of the current phase (ms, monotonic). */
  since: number;
  /** The duration of each phase (ms). */
  phases: Partial<Record<AttemptPhase, number>>;
  /** The address to which the attempt connects. */
  address: string | null;
  /** When the request was written (ms, monotonic), or null. */
  writtenAt: number | null;
  /** The headers as sent. */
  headers: Record<string, string> | null;
  /** The first bytes of the answer's body. */
  answer: Buffer | null;
  /** The headers of the answer that are kept. */
  answerHeaders: Record<string, string>;
  /** The rest of the answer is being read. */
  isDraining: boolean;
  /** The headers could not be read to their end, so `answer` begins with the status line. */
  isRawHead: boolean;
  onDrained: (() => void) | null;
}

export const newTrace = (): Trace => ({
  phase: 'dns',
  since: performance.now(),
  phases: {},
  address: null,
  writtenAt: null,
  headers: null,
  answer: null,
  answerHeaders: {},
  isDraining: false,
  isRawHead: false,
  onDrained: null,
});

/** Ends the current phase and starts `next`. The durations of a phase that is entered more than once add up. */
export function enter(trace: Trace, next: AttemptPhase): void {
  const now = performance.now();
  trace.phases[trace.phase] = (trace.phases[trace.phase] ?? 0) + now - trace.since;
  trace.phase = next;
  trace.since = now;
}

/** Adds bytes of the answer, of which the first `answerBytes` are kept. */
export function noteAnswer(trace: Trace, bytes: Buffer): void {
  const before = trace.answer;
  if (!before) trace.answer = bytes.subarray(0, answerBytes);
  else if (before.length < answerBytes) {
    trace.answer = Buffer.concat([before, bytes.subarray(0, answerBytes - before.length)]);
  }
}

export function noteDrained(trace: Trace): void {
  trace.isDraining = false;
  trace.onDrained?.();
}

/** Calls back when the rest of the answer was read, or at once if nothing is being read. */
export function whenDrained(trace: Trace, callBack: () => void): void {
  if (trace.isDraining) trace.onDrained = callBack;
  else callBack();
}

export const waitUntilDrained = (trace: Trace): Promise<void> => new Promise((resolve) => whenDrained(trace, resolve));

type TraceFields = Pick<AttemptRecord, 'address' | 'headers' | 'answer' | 'answerHeaders' | 'isRawHead' | 'phases'>;

/** The trace fields of an attempt's record. A blocked attempt has no address, because it called none. */
export function traceFields(trace: Trace, outcome: RecordedOutcome): TraceFields {
  const { address, headers, answer, answerHeaders, isRawHead, phases } = trace;
  const times: TraceFields['phases'] = {};
  for (const phase of attemptPhases) {
    const ms = phases[phase];
    if (ms !== undefined) times[phase] = Math.round(ms * 10) / 10;
  }
  return {
    ...(address !== null && outcome !== 'blocked' && { address }),
    ...(headers && { headers }),
    ...(answer && answer.length > 0 && { answer: answerText(answer, answerHeaders) }),
    ...(isRawHead && { isRawHead }),
    ...(Object.keys(answerHeaders).length > 0 && { answerHeaders }),
    ...(Object.keys(times).length > 0 && { phases: times }),
  };
}

/** The most bytes that a compressed answer may have once it is decompressed. */
const maxDecompressed = 2_097_152;

const decompressions: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: (bytes) => gunzipSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: maxDecompressed }),
  deflate: (bytes) => inflateSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: maxDecompressed }),
  br: (bytes) =>
    brotliDecompressSync(bytes, { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength: maxDecompressed }),
};

/**
 * The text of these first bytes of an answer, at most 1,024 characters, by the answer's own Content-Encoding and
 * charset. What cannot be decoded is shown byte by byte (Latin-1), so that nothing is lost.
 */
function answerText(bytes: Buffer, headers: Record<string, string>): string {
  const decompress = decompressions[headers['content-encoding']?.trim().toLowerCase().replace(/^x-/, '') ?? ''];
  const charset = /charset\s*=\s*"?([^\s;"]+)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  try {
    const plain = decompress ? decompress(bytes) : bytes;
    // Omits a last character that is incomplete because the answer was cut off.
    const text = new TextDecoder(charset, { fatal: true }).decode(plain, { stream: bytes.length >= answerBytes });
    return text.slice(0, answerBytes);
  } catch {
    return bytes.toString('latin1');
  }
}
