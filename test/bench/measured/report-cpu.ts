import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
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

let turns: IntervalHistogram | undefined;
answer('watch-turns', () => {
  turns = monitorEventLoopDelay({ resolution: 1 });
  turns.enable();
});
/** How late the event loop came to a timer of 1 ms, in ms: p99 since `watch-turns`. */
answer('turns-p99', () => (turns ? turns.percentile(99) / 1e6 - 1 : Number.NaN));

// Ends with the bench.
process.on('disconnect', () => process.exit());
