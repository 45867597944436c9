import { exitCodeOf, newCommand } from '../cli/parser.ts';
import { UsageError } from '../shared/process/command-line.ts';

process.exitCode = await exitCodeOf('dev', main, () => ' (npm run dev -- --help)');
process.exit();

async function main(): Promise<number> {
  const { status, prepare, ...options } = readArguments();
  // Imports the rest late, so that an invalid command line is reported at once.
  if (prepare) {
    const { prepareServers } = await import('./stack/stack-settings.ts');
    const { prepareTests } = await import('./servers/faketime.ts');
    await prepareServers(console.log);
    await prepareTests(console.log);
    console.log('ready: npm run dev, npm run demo and npm test need no further downloads');
  } else if (status) {
    const { showStatus } = await import('./stack/stack-overview.ts');
    await showStatus(options.port);
  } else {
    const { readScale } = await import('./stack/scale.ts');
    const scale = readScale(options.scale);
    const { start } = await import('./start-stack.ts');
    await start({ ...options, scale, port: options.port ?? Number(process.env.PORT || 4100) });
  }
  return 0;
}

function readArguments() {
  const about = `Runs the whole service on this machine until Ctrl-C, and
prints where it listens and a test key.

TEST_MONGO_URL=mongodb://HOST uses a new database there, and
drops it at the end. MONGO_URL=mongodb://HOST/NAME keeps its
database. More settings come from the environment:
docs/settings.md lists them.`;
  const command = newCommand('npm run dev --', about, [
    'PROGRAM --port 4200 --fresh',
    'PROGRAM status',
    'WEBHOOK_LOCAL_TARGETS=http://127.0.0.1:4000 npm run dev',
    'PROGRAM --scale webhooks=4 --scale dispatch=2',
    `PROGRAM --json | grep '"msg":"delivery"'`,
  ])
    .argument('[status]', 'shows the addresses and keys of a running stack')
    .option('--port <N>', 'listens on another port than 4100, with its own data', process.env.PORT || undefined)
    .option('--fresh', 'starts with empty data and a new test key', false)
    .option(
      '--scale <POOL=N>',
      'runs N processes of a worker pool instead of one; repeatable',
      (value, before: string[]) => [...before, value],
      [],
    )
    .option('--json', 'prints the raw logs, and all else on stderr', false)
    .option('--prepare', 'downloads what the first start needs, and ends', false)
    .parse();
  const { port, ...flags } = command.opts<{
    port?: string;
    fresh: boolean;
    scale: string[];
    json: boolean;
    prepare: boolean;
  }>();
  const [word] = command.args;
  if (word !== undefined && word !== 'status') throw new UsageError(`unknown command ${word}`);
  const isPort = !port || (/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535);
  if (!isPort) throw new UsageError('the port must be from 1 to 65535');
  return { ...flags, port: port ? Number(port) : undefined, status: word !== undefined };
}
