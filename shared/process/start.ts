import { ConfigError } from '../base/config.ts';
import { describeError } from '../base/errors.ts';
import { asksForHelp, said, UsageError } from './command-line.ts';

/**
 * Runs a process's main function with its command line's arguments, or prints `usage` where `--help` is among them. What
 * stops the start is told on standard error: each wrong setting in a line, with exit code 1, and a wrong command line with 2.
 * What nobody foresaw ends the process too, since its state is then unknown, and says where it happened but no value.
 */
export function start(name: string, main: (args: string[]) => Promise<void>, usage?: string): void {
  // Without a listener, a write to a reader that is gone would end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const args = process.argv.slice(2);
  if (usage && asksForHelp(args)) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  const fail = (error: unknown) => {
    process.stderr.write(`${said(name, problemOf(error))}\n`);
    if (error instanceof UsageError && usage) process.stderr.write(`${usage}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  // Who started the process with a channel to it is told that it serves.
  main(args).then(() => process.send?.('ready'), fail);
}

function problemOf(error: unknown): string {
  if (error instanceof ConfigError || error instanceof UsageError) return error.message;
  const { name, code, at } = describeError(error);
  return ['unexpected error:', name, code, at].filter(Boolean).join(' ');
}
