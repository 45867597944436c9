import { answer } from './ipc.ts';

/**
 * Preloaded into every process of the bench, the service's too: it says on request what the process has used of the CPU,
 * to the microsecond (/proc counts in hundredths of a second).
 */
answer('cpu', () => process.cpuUsage());
// Asked for by `--profile` alone: who is only measured does not load the inspector.
answer('start-profile', async () => (await import('./cpu-profile.ts')).startProfile());
answer('stop-profile', async () => (await import('./cpu-profile.ts')).stopProfile());
answer('memory', () => process.memoryUsage.rss());

// Nothing that the bench has started outlives it.
process.on('disconnect', () => process.exit());
