import { opsCommand } from './ops-command.ts';

process.exitCode = await opsCommand(process.argv.slice(2));
