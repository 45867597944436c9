import { commandOf, type DriversArguments, isHelpAsked, readArguments } from './drivers/arguments.ts';
import { commands } from './drivers/commands.ts';
import { printAnswer } from './drivers/print.ts';
import { usageInShort, usageOf } from './drivers/usage.ts';
import { type MongoCommand, runCommand, type Settings } from './run-command.ts';

const drivers: MongoCommand<DriversArguments> = {
  program: 'drivers',
  needsSecretsKey: false,
  helpFor: (argv) => (isHelpAsked(argv) ? usageOf(commandOf(argv)) : undefined),
  readArguments,
  usageInShort: (argv) => usageInShort(commandOf(argv)),
  async run(_config, args) {
    printAnswer(args.command, await commands[args.command](args), args.json);
  },
};

/** The drivers' command line: prints the answer and resolves with the exit code. */
export const driversCommand = (argv: readonly string[], settings?: Settings): Promise<number> =>
  runCommand(drivers, argv, settings);
