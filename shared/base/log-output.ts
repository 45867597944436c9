import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Lines within 100 ms share a write: one write per line would cost more than handling the request. */
const batchMs = 100;
const batchSize = 16_000;
/** The maximum length of one write (characters). Small enough that a failed write drops few lines. */
const writeSize = 64_000;
/** The pause before a write is retried because the reader is slow. */
const retryMs = 10;
/** At most this many characters wait for a slow reader. Further lines are dropped, so memory stays bounded. */
const maxWaiting = 1_000_000;
/** Time limit for writing the last lines when the process ends. */
const lastWriteMs = 200;

export interface LogOutput {
  /** Adds a line. Never fails or blocks: a line that cannot be written is dropped and counted. */
  write(line: string): void;
  /**
   * Calls back when all lines are written. After 200 ms, starts no further write and drops the other lines. If a write
   * blocks (a stopped terminal, a hanging disk), waits for it until `blockedMs` and then calls back with an error,
   * because the thread of that write keeps the process from exiting.
   */
  flush(done: (blocked?: Error) => void): void;
  /** Writes waiting lines synchronously, for up to 200 ms, in the `exit` event: the event loop no longer runs. */
  flushSync(): void;
  /** Called with the number of dropped lines when writing works again. */
  onDropped?: (lines: number) => void;
}

/**
 * Writes lines to a file descriptor in batches. A full disk, a closed pipe or a reader that stopped reading loses lines
 * but never ends the process. The descriptor of a pipe must be non-blocking: a blocked write holds a thread, and the
 * process cannot exit before that thread ends.
 *
 * A write counts as blocked only after `blockedMs`, because writes can be slow on a busy machine. pino's own
 * destination is not used: at exit it retries every error forever.
 */
export function openLogOutput(fd: number, { blockedMs = 5_000 } = {}): LogOutput {
  let waiting: string[] = [];
  let waitingSize = 0;
  let dropped = 0;
  let chunk: { bytes: Buffer; lines: number; isBegun: boolean } | null = null;
  let isWriting = false;
  /** True if a write failed in the middle of a line, so the next write must begin with a line break. */
  let isTorn = false;
  let isReporting = false;
  let timer: NodeJS.Timeout | undefined;

  const output: LogOutput = {
    write(line) {
      if (waitingSize + line.length > maxWaiting && !isReporting) {
        dropped += 1;
        return;
      }
      waiting.push(line);
      waitingSize += line.length;
      if (chunk) return;
      if (waitingSize >= batchSize) writeNext();
      else writeAfter(batchMs);
    },
    async flush(done) {
      const startedAt = performance.now();
      const isWithin = (ms: number) => performance.now() - startedAt < ms;
      for (writeNext(); chunk && isWithin(lastWriteMs); writeNext()) await sleep(5);
      while (isWriting && isWithin(blockedMs)) await sleep(5);
      done(isWriting ? new Error('a write to the log is blocked') : undefined);
    },
    flushSync() {
      const begun = chunk && !isWriting ? [chunk.bytes] : [];
      writeSync(fd, Buffer.concat([...begun, Buffer.from(waiting.join(''))]));
      [waiting, waitingSize] = [[], 0];
    },
  };

  function writeAfter(ms: number): void {
    timer ??= setTimeout(writeNext, ms).unref();
  }

  function writeNext(): void {
    if (isWriting) return;
    clearTimeout(timer);
    timer = undefined;
    chunk ??= takeChunk();
    if (!chunk) return;
    isWriting = true;
    fs.write(fd, chunk.bytes, noteWritten);
  }

  function takeChunk(): typeof chunk {
    if (waiting.length === 0) return null;
    let [lines, size] = [0, 0];
    while (lines < waiting.length && size < writeSize) size += waiting[lines++]?.length ?? 0;
    const text = waiting.splice(0, lines).join('');
    waitingSize -= size;
    return { bytes: Buffer.from(isTorn ? `\n${text}` : text), lines, isBegun: false };
  }

  function noteWritten(error: NodeJS.ErrnoException | null, count: number): void {
    isWriting = false;
    if (!chunk) return;
    if (error?.code === 'EAGAIN') {
      writeAfter(retryMs);
    } else if (error) {
      dropped += chunk.lines;
      isTorn ||= chunk.isBegun;
      chunk = null;
      if (waiting.length > 0) writeAfter(batchMs);
    } else if (count < chunk.bytes.length) {
      chunk = { ...chunk, bytes: chunk.bytes.subarray(count), isBegun: true };
      writeNext();
    } else {
      isTorn = false;
      chunk = null;
      reportDropped();
      if (waitingSize >= batchSize) writeNext();
      else if (waiting.length > 0) writeAfter(batchMs);
    }
  }

  function reportDropped(): void {
    const lines = dropped;
    dropped = 0;
    isReporting = true;
    if (lines > 0) output.onDropped?.(lines);
    isReporting = false;
  }

  return output;
}

function writeSync(fd: number, bytes: Buffer): void {
  const until = performance.now() + lastWriteMs;
  let rest = bytes;
  while (rest.length > 0 && performance.now() < until) {
    try {
      rest = rest.subarray(fs.writeSync(fd, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, retryMs);
    }
  }
}
