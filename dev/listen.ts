import { exitCodeOf } from '../cli/parser.ts';
import { UsageError } from '../shared/process/command-line.ts';
import { readArguments } from './listen/listen-arguments.ts';
import { listenToFeed } from './listen/listen-to-feed.ts';
import { runningStacks } from './stack/stack-state.ts';

const invocation = 'npm run listen --';

/** `npm run listen`: forwards the events of a key to a receiver on this machine. */
process.exitCode = await exitCodeOf('listen', main, () => ` (${invocation} --help)`);
process.exit();

async function main(): Promise<number> {
  const args = readArguments(process.argv.slice(2), process.env, { invocation, defaultUrl: 'the newest npm run dev' });
  await listenToFeed(args, args.url ?? (await newestStack()));
  return 0;
}

async function newestStack(): Promise<string> {
  const [stack] = await runningStacks();
  if (!stack) throw new UsageError('--url is missing, and no npm run dev is running');
  return stack.url;
}
