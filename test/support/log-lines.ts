import pino, { type Logger } from 'pino';
import type { Context } from '../../shared/base/context.ts';
import { onlyAllowed } from '../../shared/base/logger.ts';

export interface LogLine {
  level: number;
  msg: string;
  [field: string]: unknown;
}

/** The context with its own logger, and the lines that this logger writes from level `debug` on. */
export function withLogLines(ctx: Context): { ctx: Context; lines: LogLine[]; errors(): LogLine[] } {
  const lines: LogLine[] = [];
  const log: Logger = pino(
    { level: 'debug', formatters: { log: onlyAllowed } },
    { write: (line) => void lines.push(JSON.parse(line)) },
  );
  return { ctx: { ...ctx, log }, lines, errors: () => lines.filter(({ level }) => level >= 50) };
}
