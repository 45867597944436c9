import { createRequire } from 'node:module';
import type * as PromClient from 'prom-client';

const require = createRequire(import.meta.url);

/** Imports single files: the main entry loads OpenTelemetry, which a process without traces must not load. */
export const Counter = require('prom-client/lib/counter') as (typeof PromClient)['Counter'];
export const Gauge = require('prom-client/lib/gauge') as (typeof PromClient)['Gauge'];
const Histogram = require('prom-client/lib/histogram') as (typeof PromClient)['Histogram'];
const Registry = require('prom-client/lib/registry') as (typeof PromClient)['Registry'];

type DefaultMetric = (registry: PromClient.Registry) => void;
/** Start time, memory and open file descriptors of this process. prom-client's CPU metric needs OpenTelemetry. */
export const defaultMetrics = ['processStartTime', 'osMemoryHeap', 'processOpenFileDescriptors'].map(
  (name) => require(`prom-client/lib/metrics/${name}`) as DefaultMetric,
);

/** Every metric. Counting does no I/O. Labels are words of fixed sets, never an id, a URL or text of a client. */
export const registry = new Registry();
const registers = [registry];

type Naming<Label extends string> = { help: string; labels?: readonly Label[] };

const counter = <Label extends string = never>(name: string, { help, labels = [] }: Naming<Label>) =>
  new Counter<Label>({ name, help, labelNames: labels, registers });

const gauge = <Label extends string = never>(name: string, { help, labels = [] }: Naming<Label>) =>
  new Gauge<Label>({ name, help, labelNames: labels, registers });

const histogram = <Label extends string = never>(
  name: string,
  { help, labels = [], buckets }: Naming<Label> & { buckets: number[] },
) => new Histogram<Label>({ name, help, labelNames: labels, buckets, registers });

/** In seconds. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3];
const jobBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const lagBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
const offerBuckets = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600];

export const httpRequests = counter('rides_http_requests_total', {
  help: 'Requests answered, by route pattern; the status of a refusal that a test scenario asked for is simulated',
  labels: ['method', 'route', 'status'],
});
export const httpDuration = histogram('rides_http_request_duration_seconds', {
  help: 'From the arrival of a request to its response or stream, without waiting for its body or for events; mode of the key',
  labels: ['method', 'route', 'mode'],
  buckets: requestBuckets,
});
export const streamsOpen = gauge('rides_streams_open', {
  help: 'Open streams of this process, by part of the API',
  labels: ['part'],
});
export const pollsWaiting = gauge('rides_polls_waiting', {
  help: 'Long polls of this process that wait for events',
});

export const rideStatuses = counter('rides_status_changes_total', {
  help: 'Rides that reached a status; bidding counts creations',
  labels: ['status', 'mode'],
});
export const firstOffer = histogram('rides_first_offer_seconds', {
  help: 'From the opening of a ride, usually its creation, to its first offer',
  labels: ['mode'],
  buckets: offerBuckets,
});
export const firstRequest = histogram('rides_first_request_seconds', {
  help: 'From the opening of a live ride to its first request to a driver',
  buckets: lagBuckets,
});
export const ridesOpen = gauge('rides_open', {
  help: 'Live rides that are open for offers, by whether any driver was asked, from MongoDB; NaN if unknown',
  labels: ['asked'],
});
export const dispatchRounds = counter('rides_dispatch_rounds_total', {
  help: 'Dispatch rounds of live rides',
});
export const driversAsked = counter('rides_dispatch_drivers_asked_total', {
  help: 'Requests that drivers received, in dispatch rounds and between them',
});

export const rideRatings = counter('rides_ratings_total', {
  help: 'Rides that their passengers rated, by stars and the mode of the ride',
  labels: ['stars', 'mode'],
});

export const routeRequests = counter('rides_route_requests_total', {
  help: 'Routes that were asked for: road, no_route, implausible, failed, or rests while the routing server is not asked',
  labels: ['outcome'],
});
export const routingRests = gauge('rides_routing_rests', {
  help: '1 from five failures of the routing server in a row until it answers this process again, else 0',
});

export const timerLag = histogram('rides_timer_lag_seconds', {
  help: 'From the due time of a timer to the change that it made',
  labels: ['timer'],
  buckets: lagBuckets,
});
export const jobs = counter('rides_jobs_total', {
  help: 'Runs of jobs; again means that the job runs once more later',
  labels: ['pool', 'result'],
});
export const jobDuration = histogram('rides_job_duration_seconds', {
  help: 'Duration of a job run',
  labels: ['pool'],
  buckets: jobBuckets,
});
export const poolTakesJobs = gauge('rides_pool_takes_jobs', {
  help: '1 while the pool of this process accepts jobs, 0 while it hangs',
  labels: ['pool'],
});

const deliveries = counter('rides_deliveries_total', {
  help: 'Delivery attempts with a recorded outcome; kind is event, test or redelivery',
  labels: ['kind', 'outcome', 'pool'],
});
export const deliveriesPostponed = counter('rides_deliveries_postponed_total', {
  help: 'Delivery attempts that a fault on our side prevented; the event waits; mode is none before the ride is read',
  labels: ['reason', 'mode'],
});
const deliveryDuration = histogram('rides_delivery_duration_seconds', {
  help: 'Duration of a delivery attempt, from before the DNS lookup to the status line',
  labels: ['outcome'],
  buckets: jobBuckets,
});
export function countDelivery(
  kind: 'event' | 'test' | 'redelivery',
  pool: string,
  { outcome, durationMs }: { outcome: string; durationMs: number },
): void {
  deliveries.inc({ kind, outcome, pool });
  deliveryDuration.observe({ outcome }, durationMs / 1_000);
}
export const deliveryAccounts = gauge('rides_delivery_accounts', {
  help: 'Accounts of this process, by the outcome of their latest delivery of a live ride: failed within 5 min, delivered within 2 min',
  labels: ['outcome'],
});
export const firstByte = histogram('rides_event_to_first_byte_seconds', {
  help: 'From the commit of an event to the first byte of its delivery',
  labels: ['pool'],
  buckets: lagBuckets,
});

export const sweeperFindings = counter('rides_sweeper_findings_total', {
  help: 'What the sweeper repaired: missing jobs, stalled trips, drivers who left; failed counts failed repairs',
  labels: ['finding'],
});
export const sweeps = counter('rides_sweeps_total', { help: 'Sweeps of this process' });

export const logLinesDropped = counter('rides_log_lines_dropped_total', {
  help: 'Log lines dropped because standard output did not accept writes',
});

export const oldestUnsettledEvent = gauge('rides_oldest_unsettled_event_seconds', {
  help: 'Age of the oldest event of a live ride without an outcome, from MongoDB; 0 if there is none, NaN if unknown',
});
export const oldestOverdueTimer = gauge('rides_oldest_overdue_timer_seconds', {
  help: 'Time since the oldest overdue timer of a live ride was due, from MongoDB; 0 if there is none, NaN if unknown',
});
export const oldestOverdueAttempt = gauge('rides_oldest_overdue_attempt_seconds', {
  help: 'Time since the oldest overdue resend, test event or event for a further endpoint was due, from MongoDB; 0 if there is none, NaN if unknown',
});
export const oldestOverdueMail = gauge('rides_oldest_overdue_mail_seconds', {
  help: 'Time since the oldest overdue mail was due, from MongoDB; 0 if there is none, NaN if unknown',
});
export const oldestOverdueMessage = gauge('rides_oldest_overdue_message_seconds', {
  help: 'Time since the oldest overdue text message was due, from MongoDB; 0 if there is none, NaN if unknown',
});
export const messageOutcomes = counter('rides_messages_total', {
  help: 'Text messages, by outcome; a message counts as sent when the provider accepts it, and again when its delivery is known',
  labels: ['outcome'],
});
export const queueJobs = gauge('rides_queue_jobs', {
  help: 'Jobs in a queue, from Redis; NaN if unknown',
  labels: ['queue', 'state'],
});
export const dependencyUp = gauge('rides_dependency_up', {
  help: '1 if the server answered the last check of this process and accepts its writes, else 0',
  labels: ['dependency'],
});
export const redisMemory = gauge('rides_redis_memory_used_ratio', {
  help: 'Share of its memory limit that the fullest primary of Redis uses; NaN if unknown',
});
export const mongoDisk = gauge('rides_mongo_disk_used_ratio', {
  help: "Used share of the disk with MongoDB's data, as MongoDB reports it; NaN if unknown",
});
export const keysFailing = gauge('rides_keys_failing', {
  help: 'Keys whose last 5 or more events all failed, the last one within 24 hours; NaN if unknown',
});
export const lastBackup = gauge('rides_backup_last_success_timestamp_seconds', {
  help: 'Time of the last successful backup; missing if there has been none',
});
export const warnings = gauge('rides_warning', {
  help: '1 while this problem persists, which does not make the process unready',
  labels: ['warning'],
});
