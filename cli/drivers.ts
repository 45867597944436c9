import { driversCommand } from './drivers-command.ts';

process.exitCode = await driversCommand(process.argv.slice(2));
