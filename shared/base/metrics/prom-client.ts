import { createRequire } from 'node:module';
import type * as PromClient from 'prom-client';

const require = createRequire(import.meta.url);

/** The package's own entry also loads OpenTelemetry, which a process without traces must not load. */
export const Counter = require('prom-client/lib/counter') as (typeof PromClient)['Counter'];
export const Gauge = require('prom-client/lib/gauge') as (typeof PromClient)['Gauge'];
export const Histogram = require('prom-client/lib/histogram') as (typeof PromClient)['Histogram'];
export const Registry = require('prom-client/lib/registry') as (typeof PromClient)['Registry'];

type DefaultMetric = (registry: PromClient.Registry) => void;
/** Start time, memory and open file descriptors of this process. The package's CPU time needs OpenTelemetry. */
export const defaultMetrics = ['processStartTime', 'osMemoryHeap', 'processOpenFileDescriptors'].map(
  (name) => require(`prom-client/lib/metrics/${name}`) as DefaultMetric,
);
