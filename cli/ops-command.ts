import { readConfig } from '../shared/base/config.ts';
import { openContext } from '../shared/process/open-context.ts';
import { commandOf, isHelpAsked, type OpsArguments, readArguments } from './ops/arguments.ts';
import { commands } from './ops/commands.ts';
import { printAnswer } from './ops/print.ts';
import { usageInShort, usageOf } from './ops/usage.ts';
import { type CommandLine, runCommandLine, type Settings } from './run-command.ts';

const ops: CommandLine<OpsArguments> = {
  program: 'ops',
  helpFor: (argv) => (isHelpAsked(argv) ? usageOf(commandOf(argv)) : undefined),
  readArguments,
  usageInShort: (argv) => usageInShort(commandOf(argv)),
};

/** The operator's command line: prints the answer and resolves with the exit code. */
export const opsCommand = (argv: readonly string[], settings?: Settings): Promise<number> =>
  runCommandLine(ops, argv, settings, async (args, env) => {
    const config = readConfig(env, { without: ['SECRETS_KEY'] });
    // Standard output holds the answer alone, and nobody waits for a collector of traces.
    const ctx = await openContext({ ...config, logLevel: 'silent', traces: undefined }, 'ops');
    try {
      printAnswer(args.command, await commands[args.command](ctx, args), args.json);
    } finally {
      await ctx.close();
    }
  });
