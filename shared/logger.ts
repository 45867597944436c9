import { type Logger, pino } from 'pino';

export type { Logger };

/**
 * A write for each line would cost a request more than its own work. Lines wait for at most a tenth of a second, and are
 * written when the process exits; only a killed process loses its last ones.
 */
const output = pino.destination({ dest: 1, sync: false, minLength: 16_000, periodicFlush: 100 });

/**
 * JSON lines on standard output. What is logged is chosen at each call: ids, codes, counts and durations, never a body,
 * a key, a secret, a name or a phone number.
 */
export function createLogger(level: string, process: string): Logger {
  return pino({ level, base: { process }, timestamp: pino.stdTimeFunctions.isoTime }, output);
}
