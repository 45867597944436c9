import { exitCodeOf } from '../../cli/parser.ts';
import { exampleBaseUrl } from '../../web/docs/example-base-url.ts';
import { readArguments } from './listen-arguments.ts';
import { listenToFeed } from './listen-to-feed.ts';

const invocation = 'node listen.mjs';

/**
 * `npm run listen` without this repository: the build bundles this file into one, which the documentation serves as
 * `/docs/listen.mjs`. As everywhere in the documentation, the address of the service replaces the example address.
 */
process.exitCode = await exitCodeOf('listen', main, () => ` (${invocation} --help)`);
process.exit();

async function main(): Promise<number> {
  const args = readArguments(process.argv.slice(2), process.env, { invocation, defaultUrl: exampleBaseUrl });
  await listenToFeed(args, args.url ?? exampleBaseUrl);
  return 0;
}
