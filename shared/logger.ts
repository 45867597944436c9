import { type Logger, pino } from 'pino';

export type { Logger };

/**
 * JSON lines on standard output. What is logged is chosen at each call: ids, codes, counts and durations, never a body,
 * a key, a secret, a name or a phone number.
 */
export function createLogger(level: string, process: string): Logger {
  return pino({ level, base: { process }, timestamp: pino.stdTimeFunctions.isoTime });
}
