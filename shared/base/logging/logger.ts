import { type Logger, pino } from 'pino';
import { logLinesDropped } from '../metrics/metrics.ts';
import { onlyAllowed } from './log-fields.ts';
import { openLogOutput } from './log-output.ts';

export type { Logger };

/** One output for the process. Lines are lost at the end only when the process is killed. */
const output = openLogOutput(1);
process.once('exit', output.flushSync);

/**
 * Creates the process's log: JSON lines on standard output, with the fields of log-fields.ts and no others: ids, codes, counts
 * and durations, never a body, a key, a secret, a name or a phone number. Lines that cannot be written are dropped; a later
 * line reports how many.
 */
export function createLogger(level: string, processName: string): Logger {
  // Opening process.stdout makes a pipe non-blocking.
  if (level !== 'silent') void process.stdout;
  const options = {
    level,
    base: { process: processName },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { log: onlyAllowed },
  };
  const log = pino(options, output);
  output.onDropped = (lines) => {
    logLinesDropped.inc(lines);
    log.error({ lines }, 'log lines were dropped: standard output took none');
  };
  return log;
}
