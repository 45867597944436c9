import { answer } from './ipc.ts';

/**
 * Preloaded into every process of the bench, including the service's. Reports the CPU time of the process in
 * microseconds; /proc has only hundredths of a second.
 */
answer('cpu', () => process.cpuUsage());
// Loads the inspector only here, because only `--profile` needs it.
answer('start-profile', async () => (await import('./cpu-profile.ts')).startProfile());
answer('stop-profile', async () => (await import('./cpu-profile.ts')).stopProfile());
answer('memory', () => process.memoryUsage.rss());

// Ends with the bench.
process.on('disconnect', () => process.exit());
