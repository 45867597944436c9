import { start } from '../shared/start.ts';
import { runPools } from './run-pools.ts';

/** The pools named on the command line, or all. */
start('worker', () => runPools(process.argv.slice(2)));
