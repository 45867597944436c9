import { ops } from '../cli/ops/commands.ts';
import { runProgram } from '../cli/run-program.ts';
import { askedStack } from './stack/asked-stack.ts';

/** `npm run ops`: the operator's command line on a running stack, or on the servers that the environment names. */
const { argv, settings } = askedStack('ops', process.argv.slice(2));
process.exitCode = await runProgram(ops, argv, settings);
