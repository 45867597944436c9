import { parseArgs } from 'node:util';
import { prepareServers } from './servers/prepare.ts';
import { start } from './start.ts';
import { showStatus } from './status.ts';

const usage = `Usage: npm run dev -- [status] [--port 4100] [--fresh] [--json] [--prepare]
  (nothing)   starts the whole service on this machine, until Ctrl-C
  status      shows again what a running one printed at its start
  --port N    listens on another port; each port has its own data
  --fresh     starts with empty data and a new test key
  --json      prints the logs as the processes write them, all else on stderr
  --prepare   fetches what the first start would fetch, and ends
Examples
  npm run dev -- --port 4200 --fresh
  WEBHOOK_LOCAL_TARGETS=http://127.0.0.1:4000 npm run dev
  npm run dev -- --json | grep '"msg":"delivery"'`;

try {
  process.exitCode = await command();
} catch (error) {
  console.error(`dev: ${(error as Error).message}`);
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
  if (help) console.log(usage);
  else if (prepare) {
    await prepareServers(console.log);
    console.log('everything is here: npm run dev, npm run demo and npm test fetch nothing more');
  } else if (status) await showStatus(options.port);
  else await start({ ...options, port: options.port ?? Number(process.env.PORT || 4100) });
  return 0;
}

/** The options of the command line, or a text that says what is wrong with it. */
function readArguments() {
  const flag = { type: 'boolean', default: false } as const;
  const options = { port: { type: 'string' }, fresh: flag, json: flag, prepare: flag, help: flag } as const;
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    const port = values.port ?? (process.env.PORT || undefined);
    const isPort = !port || (/^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535);
    if (!isPort) return 'the port must be from 1 to 65535';
    const other = positionals.find((word, index) => word !== 'status' || index > 0);
    if (other !== undefined) return `there is no command ${other}`;
    return { ...values, port: port ? Number(port) : undefined, status: positionals.length > 0 };
  } catch (error) {
    return (error as Error).message.split('. To specify')[0] ?? '';
  }
}
