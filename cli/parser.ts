import { Command, CommanderError, type OptionValues } from 'commander';
import { prefixLines, UsageError } from '../shared/process/command-line.ts';

/**
 * A command line that starts with the words `invocation`. Its help is wrapped at 60 columns and ends with the examples,
 * in which `PROGRAM` stands for these words. Parsing an invalid command line throws UsageError.
 */
export const newCommand = (invocation: string, about: string, examples: readonly string[]): Command =>
  withHelp(new Command(invocation), invocation, about, examples)
    .exitOverride((error) => {
      throw error.exitCode === 0 ? error : new UsageError(error.message.replace(/^error: /, '').replace('\n', ' '));
    })
    .configureOutput({
      writeOut: (text) => console.log(text.trimEnd()),
      writeErr() {},
      getOutHelpWidth: () => 60,
    })
    .configureHelp({
      minWidthToWrap: 20,
      subcommandTerm: (command) => command.name(),
      optionDescription: (option) => option.description,
      styleUsage(usage) {
        return this.boxWrap?.(usage, 53).replaceAll('\n', `\n${' '.repeat(7)}`) ?? usage;
      },
    })
    .helpOption('-h, --help', 'prints this help');

/** Gives a command the texts of its help. */
export const withHelp = (command: Command, invocation: string, about: string, examples: readonly string[]): Command => {
  const rows = examples.map((text) => `\n  ${text.replaceAll('PROGRAM', invocation)}`);
  return command
    .description(about)
    .addHelpText('after', `\n${rows.length > 1 ? 'Examples' : 'Example'}${rows.join('')}`);
};

/**
 * Runs a program, and resolves with its exit code: that of `main`, 0 if it printed help or the version, 2 for UsageError
 * and 1 for any other error. Prints the error, with the name of the program before each line. `hint` tells how to get
 * help.
 */
export async function exitCodeOf(
  name: string,
  main: () => Promise<number>,
  hint: () => string,
  problemOf = (error: Error): string => error.message,
): Promise<number> {
  try {
    return await main();
  } catch (error) {
    if (error instanceof CommanderError) return 0;
    const isUsage = error instanceof UsageError;
    console.error(prefixLines(name, isUsage ? error.message : problemOf(error as Error)) + (isUsage ? hint() : ''));
    return isUsage ? 2 : 1;
  }
}

/**
 * The options in the command line of this process, for a program without subcommands. Ends the process if it asks for
 * help or is invalid.
 */
export async function optionsOf<Values extends OptionValues>(name: string, command: Command): Promise<Values> {
  let options: Values | undefined;
  const read = async () => {
    options = command.parse().opts<Values>();
    return 0;
  };
  const code = await exitCodeOf(name, read, () => ` (${command.name()} --help)`);
  return options ?? process.exit(code);
}
