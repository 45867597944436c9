import { type ParseArgsConfig, parseArgs } from 'node:util';

/** A wrong command line: exit code 2. Its message is one line for the user. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** As `parseArgs`, but throws UsageError with one line that says what is wrong. */
export function parseCommandLine<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    // Node adds hints on dashes, in a second sentence or line.
    const [problem = ''] = (error as Error).message.split(/\.? To specify|\n/);
    throw new UsageError(problem.replace(/^Unknown option/, 'there is no option').replace(/^Option /, ''));
  }
}

/** Throws UsageError for any argument at all. */
export function takesNoArguments([first]: readonly string[]): void {
  if (first !== undefined) throw new UsageError(`it takes no arguments, and was given ${first}`);
}

export const asksForHelp = (args: readonly string[]): boolean => args.some((arg) => arg === '--help' || arg === '-h');

/** Each line of a message after the name of the program that says it. */
export const said = (program: string, message: string): string => message.replaceAll(/^/gm, `${program}: `);
