/** An invalid command line, which ends the process with exit code 2. The message is one line for the user. */
export class UsageError extends Error {
  override name = 'UsageError';
}

/** Throws UsageError if the command line has any argument. */
export function rejectArguments([first]: readonly string[]): void {
  if (first !== undefined) throw new UsageError(`unexpected argument ${first}`);
}

export const asksForVersion = (args: readonly string[]): boolean => args.length === 1 && args[0] === '--version';

export const asksForHelp = (args: readonly string[]): boolean => args.some((arg) => arg === '--help' || arg === '-h');

/** Prefixes each line of a message with the name of the program. */
export const prefixLines = (program: string, message: string): string => message.replaceAll(/^/gm, `${program}: `);
