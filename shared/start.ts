import { ConfigError } from './config.ts';
import { describeError } from './errors.ts';

/**
 * Runs a process's main function. A setting that stops the start is one line on standard error and exit code 1. What
 * nobody foresaw ends the process too, since its state is then unknown, and says where it happened but no value.
 */
export function start(name: string, main: () => Promise<void>): void {
  // Without a listener, a write to a reader that is gone would end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const fail = (error: unknown) => {
    const { name: errorName, code, at } = describeError(error);
    const unforeseen = ['unexpected error:', errorName, code, at].filter(Boolean).join(' ');
    process.stderr.write(`${name}: ${error instanceof ConfigError ? error.message : unforeseen}\n`);
    process.exit(1);
  };
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  // Who started the process with a channel to it is told that it serves.
  main().then(() => process.send?.('ready'), fail);
}
