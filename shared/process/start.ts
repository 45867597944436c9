import { ConfigError, describeError } from '../base/errors.ts';
import { version } from '../base/version.ts';
import { asksForHelp, asksForVersion, prefixLines, UsageError } from './command-line.ts';

/**
 * Runs a process's main function with the arguments of its command line. `--help` prints `usage` instead, and
 * `--version` the version.
 * If the start fails, reports the reason on standard error: invalid settings, one line each, with exit code 1; an
 * invalid command line with exit code 2. Unexpected errors also end the process, because its state is unknown; only
 * name, code and stack are printed.
 */
export function start(name: string, main: (args: string[]) => Promise<void>, usage?: string): void {
  // Without a listener, a write to a closed pipe would end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const args = process.argv.slice(2);
  if (usage && asksForHelp(args)) {
    process.stdout.write(`${usage}\n`);
    return;
  }
  if (asksForVersion(args)) {
    process.stdout.write(`${version}\n`);
    return;
  }
  const fail = (error: unknown) => {
    process.stderr.write(`${prefixLines(name, problemOf(error))}\n`);
    if (error instanceof UsageError && usage) process.stderr.write(`${usage}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  // Notifies a parent process (IPC) that this process is ready.
  main(args).then(() => process.send?.('ready'), fail);
}

function problemOf(error: unknown): string {
  if (error instanceof ConfigError || error instanceof UsageError) return error.message;
  const { name, code, at } = describeError(error);
  return ['unexpected error:', name, code, at].filter(Boolean).join(' ');
}
