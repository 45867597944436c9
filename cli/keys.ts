import { keys } from './keys/key-commands.ts';
import { runProgram } from './run-program.ts';

process.exitCode = await runProgram(keys, process.argv.slice(2));
