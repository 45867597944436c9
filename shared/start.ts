import { ConfigError } from './config.ts';
import { describeError } from './errors.ts';

/**
 * Runs a process's main function. What stops the start is one line on standard error and exit code 1; what goes wrong
 * unforeseen later ends the process too, since its state is then unknown, with where it happened but no value.
 */
export function start(name: string, main: () => Promise<void>): void {
  const fail = (what: string, error: unknown) => {
    const { name: errorName, code, at } = describeError(error);
    const line = error instanceof ConfigError ? error.message : `${what}: ${errorName}${code ? ` ${code}` : ''}`;
    process.stderr.write(`${name}: ${line}${at && !isForeseen(error) ? ` at ${at}` : ''}\n`);
    process.exit(1);
  };
  process.on('uncaughtException', (error) => fail('unexpected error', error));
  process.on('unhandledRejection', (error) => fail('unexpected error', error));
  main().then(
    // Who started the process with a channel to it is told that it serves.
    () => process.send?.('ready'),
    (error) => fail('cannot start', error),
  );
}

/** These say it all by name: MongoDB does not answer, the port is taken. */
function isForeseen(error: unknown): boolean {
  const { name, code } = error as { name?: string; code?: string };
  return name === 'ConfigError' || name === 'MongoServerSelectionError' || code === 'EADDRINUSE';
}
