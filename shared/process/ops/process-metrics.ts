import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, defaultMetrics, Gauge, registry } from '../../base/metrics.ts';

const nanosecondsPerSecond = 1e9;
const resolutionMs = 20;
const registers = [registry];

/** Measures this process, from the first call on: a process that serves no metrics measures nothing. */
export function measureProcess(processName: string): void {
  if (registry.getSingleMetric('rides_process_info')) return;
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  new Gauge({
    name: 'rides_process_info',
    help: 'Which process this is: api, or the pools of a worker',
    labelNames: ['process'],
    registers,
  }).set({ process: processName }, 1);
  new Gauge({
    name: 'rides_event_loop_lag_seconds',
    help: 'How late the event loop was since the last scrape: the median, the 99th percentile and the longest',
    labelNames: ['rank'],
    registers,
    collect() {
      // The histogram counts the resolution itself as delay, and is empty right after a reset.
      const late = (ns: number) => Math.max(0, ns / nanosecondsPerSecond - resolutionMs / 1_000) || 0;
      this.set({ rank: 'p50' }, late(delay.percentile(50)));
      this.set({ rank: 'p99' }, late(delay.percentile(99)));
      this.set({ rank: 'max' }, late(delay.max));
      delay.reset();
    },
  });
  for (const measure of defaultMetrics) measure(registry);
  new Gauge({
    name: 'nodejs_heap_used_bytes',
    help: 'Memory in use on the heap of JavaScript',
    registers,
    collect() {
      this.set(process.memoryUsage().heapUsed);
    },
  });
  let counted = 0;
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time of the process, in user and system mode',
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.inc((user + system) / 1e6 - counted);
      counted = (user + system) / 1e6;
    },
  });
}
