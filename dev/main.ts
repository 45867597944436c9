import { parseArgs } from 'node:util';
import { prefixLines } from '../shared/process/command-line.ts';

const usage = `Usage: npm run dev -- [--port N] [--fresh] [--json]
       npm run dev -- status [--port N]
       npm run dev -- --prepare

Runs the whole service on this machine until Ctrl-C, and
prints where it listens and a test key.

  status     shows the addresses and keys of a running stack
  --port N   listens on another port than 4100, with its own
             data
  --fresh    starts with empty data and a new test key
  --json     prints the raw logs, and all else on stderr
  --prepare  downloads what the first start needs, and ends

TEST_MONGO_URL=mongodb://HOST uses a new database there, and
drops it at the end. MONGO_URL=mongodb://HOST/NAME keeps its
database. More settings come from the environment:
docs/settings.md lists them.

Examples
  npm run dev -- --port 4200 --fresh
  npm run dev -- status
  WEBHOOK_LOCAL_TARGETS=http://127.0.0.1:4000 npm run dev
  npm run dev -- --json | grep '"msg":"delivery"'`;

try {
  process.exitCode = await command();
} catch (error) {
  console.error(prefixLines('dev', (error as Error).message));
  process.exitCode = 1;
}
process.exit();

async function command(): Promise<number> {
  const args = readArguments();
  if (typeof args === 'string') {
    console.error(`dev: ${args} (npm run dev -- --help)`);
    return 2;
  }
  const { prepare, help, status, ...options } = args;
  // Imports the rest late, so that an invalid command line is reported at once.
  if (help) console.log(usage);
  else if (prepare) {
    const { prepareServers } = await import('./stack/settings.ts');
    const { prepareTests } = await import('./servers/faketime.ts');
    await prepareServers(console.log);
    await prepareTests(console.log);
    console.log('ready: npm run dev, npm run demo and npm test need no further downloads');
  } else if (status) {
    const { showStatus } = await import('./stack/overview.ts');
    await showStatus(options.port);
  } else {
    const { start } = await import('./start.ts');
    await start({ ...options, port: options.port ?? Number(process.env.PORT || 4100) });
  }
  return 0;
}

/** Reads the command line. Returns a message if it is invalid. */
function readArguments() {
  const flag = { type: 'boolean', default: false } as const;
  const options = { port: { type: 'string' }, fresh: flag, json: flag, prepare: flag, help: flag } as const;
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const port = values.port ?? (process.env.PORT || undefined);
    const isPort = !port || (/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535);
    if (!isPort) return 'the port must be from 1 to 65535';
    const other = positionals.find((word, index) => word !== 'status' || index > 0);
    if (other !== undefined) return `unknown command ${other}`;
    return { ...values, port: port ? Number(port) : undefined, status: positionals.length > 0 };
  } catch (error) {
    return (error as Error).message.split('. To specify')[0] ?? '';
  }
}
