import { driversCommand } from '../cli/drivers-command.ts';
import { keysCommand } from '../cli/keys-command.ts';
import { opsCommand } from '../cli/ops-command.ts';
import { askedStack } from './stack/asked-stack.ts';

/** `npm run keys`, `drivers` and `ops`: a command line of the service, on a running stack or on the servers of the environment. */
const commands = { keys: keysCommand, drivers: driversCommand, ops: opsCommand };
const [name, ...args] = process.argv.slice(2) as [keyof typeof commands, ...string[]];
const { argv, settings } = askedStack(name, args);
process.exitCode = await commands[name](argv, settings);
