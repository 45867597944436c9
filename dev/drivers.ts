import { drivers } from '../cli/drivers/commands.ts';
import { runProgram } from '../cli/run-program.ts';
import { askedStack } from './stack/asked-stack.ts';

/** `npm run drivers`: the drivers' command line on a running stack, or on the server that the environment names. */
const { argv, settings } = askedStack('drivers', process.argv.slice(2));
process.exitCode = await runProgram(drivers, argv, settings);
