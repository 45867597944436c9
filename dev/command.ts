import { drivers } from '../cli/drivers/driver-commands.ts';
import { keys } from '../cli/keys/key-commands.ts';
import { ops } from '../cli/ops/ops-commands.ts';
import type { Program } from '../cli/program.ts';
import { runProgram } from '../cli/run-program.ts';
import { stackSettings } from './stack/asked-stack.ts';

/** `npm run keys`, `drivers` and `ops`: runs a program of cli/ on a running stack, or on the server of MONGO_URL. */
const [name = '', ...argv] = process.argv.slice(2);
const settings = (port?: string) => stackSettings(name, port);
// biome-ignore lint/suspicious/noExplicitAny: each program has another context.
const programs: Record<string, Program<any>> = { keys, drivers, ops };
process.exitCode = await runProgram(programs[name] ?? keys, argv, settings);
