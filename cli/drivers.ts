import { drivers } from './drivers/driver-commands.ts';
import { runProgram } from './run-program.ts';

process.exitCode = await runProgram(drivers, process.argv.slice(2));
