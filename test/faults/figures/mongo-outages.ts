import { setTimeout } from 'node:timers/promises';
import type { Evidence } from '../check/checker.ts';
import { latestAfter, workOfAll } from '../check/lateness.ts';
import { type Fault, overlaps } from '../faults-log.ts';
import type { Figure } from '../figure.ts';
import { between } from '../random.ts';
import { type Arena, takeAway } from '../rounds/arena.ts';
import { runUnderFaults, summaryOf } from '../rounds/run-rounds.ts';

const answeredWithinMs = 3_000;
const normalWithinMs = 5_000;

/** Kinds of outages of MongoDB, with their shortest and longest duration in ms. */
const outages = {
  'killed and started at once': ['killed', 0, 0],
  'killed, and away for a while': ['killed', 500, 5_000],
  'away for 30 s': ['stopped', 30_000, 30_000],
  hung: ['hung', 1_000, 10_000],
} as const;
type Outage = keyof typeof outages;

export const mongoOutages: Figure = {
  name: 'mongo-outages',
  goal: 'JSON 5xx within 3 s, never a hang, no process ends; normal within 5 s of its return',
  needsEngine: true,
  async measure(run) {
    const once = Object.keys(outages) as Outage[];
    const order: Outage[] = run.short
      ? ['killed and started at once', 'hung', 'killed, and away for a while']
      : [1, 2, 3].flatMap(() => [...once, 'killed and started at once', 'killed and started at once', 'hung']);
    const { evidence, violations } = await runUnderFaults({
      run,
      world: { wired: false },
      async faults(arena) {
        for (const kind of order) {
          await outage(arena, kind, run.short ? 4_000 : Number.POSITIVE_INFINITY);
          await setTimeout(normalWithinMs + 1_000);
        }
      },
      check(evidence) {
        const { latest, slowestMs, lastRefusalMs } = measuresOf(evidence);
        return [
          ...(latest.ms > normalWithinMs ? [`work resumed only ${latest.ms} ms after the return: ${latest.what}`] : []),
          ...(slowestMs > answeredWithinMs ? [`an answer took ${slowestMs} ms`] : []),
          ...(lastRefusalMs > normalWithinMs ? [`a request ${lastRefusalMs} ms after the return got a 5xx`] : []),
        ];
      },
    });
    const { during, slowestMs, lastRefusalMs, latest } = measuresOf(evidence);
    const reached =
      `${order.length} outages; ${during.length} requests during them, ${during.filter(({ status }) => status >= 500).length} ` +
      `of them answered 5xx, the slowest after ${slowestMs} ms; the last request with a 5xx was sent ${lastRefusalMs} ms after ` +
      `the return; the latest work resumed ${(latest.ms / 1_000).toFixed(1)} s after it; ${summaryOf(evidence)}`;
    return { reached, violations };
  },
};

function measuresOf(evidence: Evidence) {
  const { faults, journal } = evidence;
  const isDuring = ({ at, ms }: Evidence['journal'][number]) => faults.some((fault) => overlaps(fault, at, at + ms));
  const during = journal.filter(isDuring);
  const refusals = journal.filter((entry) => entry.status >= 500 && !isDuring(entry));
  return {
    during,
    slowestMs: Math.max(0, ...during.map(({ ms }) => ms)),
    lastRefusalMs: Math.max(0, ...refusals.map(({ at }) => sinceReturn(faults, at))),
    latest: latestAfter(faults, workOfAll(evidence), normalWithinMs),
  };
}

/** The time since MongoDB's last return in ms; 0 during an outage. */
function sinceReturn(faults: readonly Fault[], at: number): number {
  if (faults.some((fault) => overlaps(fault, at, at))) return 0;
  const since = faults.map(({ until }) => at - until).filter((ms) => ms >= 0);
  return since.length > 0 ? Math.min(...since) : 0;
}

async function outage(arena: Arena, kind: Outage, longestMs: number): Promise<void> {
  const [how, leastMs, mostMs] = outages[kind];
  const ms = Math.min(between(arena.random, leastMs, mostMs), longestMs);
  arena.say(`MongoDB ${kind}: ${(ms / 1_000).toFixed(1)} s`);
  await takeAway(arena, 'mongo', how, ms);
}
