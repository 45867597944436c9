import { ops } from './ops/ops-commands.ts';
import { runProgram } from './run-program.ts';

process.exitCode = await runProgram(ops, process.argv.slice(2));
