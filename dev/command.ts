import { drivers } from '../cli/drivers/commands.ts';
import { keys } from '../cli/keys/commands.ts';
import { ops } from '../cli/ops/commands.ts';
import { runProgram, type Settings } from '../cli/run-program.ts';
import { selectStack } from './stack/asked-stack.ts';

/** `npm run keys`, `drivers` and `ops`: runs a program of cli/ on a running stack, or on the server of MONGO_URL. */
const programs = {
  keys: (argv: string[], settings: Settings) => runProgram(keys, argv, settings),
  drivers: (argv: string[], settings: Settings) => runProgram(drivers, argv, settings),
  ops: (argv: string[], settings: Settings) => runProgram(ops, argv, settings),
};
const [name, ...args] = process.argv.slice(2) as [keyof typeof programs, ...string[]];
const { argv, settings } = selectStack(name, args);
process.exitCode = await programs[name](argv, settings);
