import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, defaultMetrics, Gauge, registry } from '../../base/metrics.ts';
import { build } from '../../base/version.ts';

const nanosecondsPerSecond = 1e9;
const resolutionMs = 20;
const registers = [registry];

/** Starts measuring this process. Call it only if the process serves metrics. */
export function measureProcess(processName: string): void {
  if (registry.getSingleMetric('rides_process_info')) return;
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  new Gauge({
    name: 'rides_process_info',
    help: 'Name of this process: api, or the pools of a worker',
    labelNames: ['process'],
    registers,
  }).set({ process: processName }, 1);
  new Gauge({
    name: 'rides_build_info',
    help: 'Version of this process, with the commit of its build and the version of Node',
    labelNames: ['version', 'commit', 'node'],
    registers,
  }).set({ version: build.release, commit: build.commit, node: process.versions.node }, 1);
  new Gauge({
    name: 'rides_event_loop_lag_seconds',
    help: 'Event loop delay since the last scrape: median, 99th percentile and maximum',
    labelNames: ['rank'],
    registers,
    collect() {
      // Subtracts the resolution, which the measured delay contains. Right after a reset the histogram is empty, and
      // the result is 0.
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
    help: 'Memory in use on the JavaScript heap',
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
