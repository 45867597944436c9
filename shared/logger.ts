import { type Logger, pino } from 'pino';
import { openLogOutput } from './log-output.ts';

export type { Logger };

/** One for the process, on standard output. Only a killed process loses its last lines. */
const output = openLogOutput(1);
process.once('exit', output.flushSync);

/**
 * JSON lines on standard output. What is logged is chosen at each call: ids, codes, counts and durations, never a body,
 * a key, a secret, a name or a phone number. A line that cannot be written is dropped, and the next one that can says how
 * many were.
 */
export function createLogger(level: string, processName: string): Logger {
  // Opening process.stdout makes a pipe non-blocking.
  if (level !== 'silent') void process.stdout;
  const options = { level, base: { process: processName }, timestamp: pino.stdTimeFunctions.isoTime };
  const log = pino(options, output);
  output.onDropped = (lines) => log.error({ lines }, 'log lines were dropped: standard output took none');
  return log;
}
