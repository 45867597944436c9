import { keys } from '../cli/keys/commands.ts';
import { runProgram } from '../cli/run-program.ts';
import { askedStack } from './stack/asked-stack.ts';

/** `npm run keys`: the keys' command line on a running stack, or on the server that the environment names. */
const { argv, settings } = askedStack('keys', process.argv.slice(2));
process.exitCode = await runProgram(keys, argv, settings);
