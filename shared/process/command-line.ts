import { type ParseArgsConfig, parseArgs } from 'node:util';

/**
 * Thrown for an invalid command line, which ends the process with exit code 2. The message is one line for the user.
 */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Like `parseArgs`, but throws UsageError with a message of one line. */
export function parseCommandLine<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    // Removes the hint about dashes that Node adds as a second sentence or line.
    const [problem = ''] = (error as Error).message.split(/\.? To specify|\n/);
    throw new UsageError(problem.replace(/^Unknown option/, 'unknown option').replace(/^Option /, ''));
  }
}

/** Throws UsageError if the command line has any argument. */
export function rejectArguments([first]: readonly string[]): void {
  if (first !== undefined) throw new UsageError(`unexpected argument ${first}`);
}

export const asksForVersion = (args: readonly string[]): boolean => args.length === 1 && args[0] === '--version';

export const asksForHelp = (args: readonly string[]): boolean => args.some((arg) => arg === '--help' || arg === '-h');

/** Prefixes each line of a message with the name of the program. */
export const prefixLines = (program: string, message: string): string => message.replaceAll(/^/gm, `${program}: `);
