import { assertCheck } from '../shared/keys/secrets-check.ts';
import { commandOf, isHelpAsked, type KeysArguments, readArguments } from './keys/arguments.ts';
import { commands } from './keys/commands.ts';
import { printAnswer } from './keys/print.ts';
import { usageInShort, usageOf } from './keys/usage.ts';
import { type MongoCommand, runCommand, type Settings } from './run-command.ts';

/** With a wrong SECRETS_KEY these would store what no process of the service can open. */
const encrypting = ['create', 'roll-secret', 'rekey'];

const keys: MongoCommand<KeysArguments> = {
  program: 'keys',
  needsSecretsKey: true,
  helpFor: (argv) => (isHelpAsked(argv) ? usageOf(commandOf(argv)) : undefined),
  readArguments,
  usageInShort: (argv) => usageInShort(commandOf(argv)),
  async run(config, args) {
    if (encrypting.includes(args.command)) await assertCheck(config.secrets.keys);
    printAnswer(args.command, await commands[args.command](config, args), args.json);
  },
};

/** The keys' command line: prints the answer and resolves with the exit code. */
export const keysCommand = (argv: readonly string[], settings?: Settings): Promise<number> =>
  runCommand(keys, argv, settings);
