import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Evidence, violationsIn } from '../check/checker.ts';
import { repeatsAmong } from '../check/deliveries.ts';
import { gatherEvidence } from '../check/evidence.ts';
import { standstillSummary, standstillViolations } from '../check/standstills.ts';
import type { Fault } from '../faults-log.ts';
import type { FigureResult, FigureRun } from '../figure.ts';
import { startCrowd } from '../load/crowd.ts';
import { type Fleet, startFleet } from '../load/fleet.ts';
import { startPace } from '../load/pace.ts';
import { startPartners } from '../load/partners.ts';
import { between, seededRandom, shuffled } from '../random.ts';
import { startMachineWatch } from '../world/machine-watch.ts';
import { manners } from '../world/receivers.ts';
import type { WorldOptions } from '../world/settings.ts';
import { startWorld, type World } from '../world/world.ts';
import type { Arena } from './arena.ts';
import { replicaSetFaults, roundFaults } from './faults.ts';

export interface FaultRunOptions {
  run: FigureRun;
  /** Options of the world. By default it is wired. */
  world?: Partial<WorldOptions>;
  /** Creations started each second, at the planned pace. */
  perSecond?: number;
  longestMs?: number;
  /** With people on the dashboard, feed readers and old rides. */
  withPeople?: boolean;
  /** Makes the faults. Partners send requests in the meantime. */
  faults(arena: Arena, partners: ReturnType<typeof startPartners>): Promise<void>;
  /** Finds further violations, in addition to the checker's. */
  check?(evidence: Evidence): string[];
}

export interface FaultRunResult {
  evidence: Evidence;
  violations: string[];
}

/**
 * Time limit for all work to end. To a silent receiver, the last event of a ride is sent up to a minute after the
 * ride's end.
 */
const allDoneTimeoutMs = 150_000;
/** Time in which live rides continue after the last fault. */
const calmMs = 30_000;
/** Creations of live rides per second. With more, all drivers would always have the maximum of five open requests. */
const livePerSecond = 0.8;
const livesManners = ['prompt', 'prompt', 'prompt', 'prompt', 'failing', 'resetting', 'none'] as const;

/**
 * Starts a world with partners and drivers, makes the faults, waits until all work is done (at most
 * `allDoneTimeoutMs`), gathers the evidence and runs the checker, which also reports work that is not done.
 */
export async function runUnderFaults({
  run,
  world: more,
  perSecond = run.short ? 6 : 10,
  longestMs,
  withPeople = false,
  faults,
  check,
}: FaultRunOptions): Promise<FaultRunResult> {
  const random = seededRandom(run.seed);
  const world = await startWorld({ build: run.build, wired: true, seed: run.seed, withPast: withPeople, ...more });
  const made: Fault[] = [];
  const watch = startMachineWatch({ mongoUrl: world.mongo.url, redisUrl: world.redis.url, faults: made, say: run.say });
  let evidence: Evidence | undefined;
  // The evidence is also kept if the run ends with an error.
  let isKept = true;
  const violations: string[] = [];
  let fleet: Fleet | undefined;
  const pace = startPace();
  try {
    const keys = await keysOfEveryManner(world);
    const sideShare = withPeople ? 0.3 : 0;
    const partners = startPartners(world, keys, seededRandom(run.seed + 1), perSecond, { sideShare, pace });
    const liveKeys = await Promise.all(livesManners.map((manner) => world.newKey({ manner, mode: 'live' })));
    const liveRandom = seededRandom(run.seed + 2);
    fleet = await startFleet(world, liveRandom, { pace });
    const live = startPartners(world, liveKeys, liveRandom, livePerSecond, {
      areLive: true,
      acceptShare: 0.6,
      sideShare,
      pace,
    });
    const crowd = withPeople
      ? startCrowd(world, [...keys.slice(0, 3), ...liveKeys.slice(0, 1)], run.seed + 3, { pace })
      : undefined;
    const arena: Arena = { world, random, faults: made, broken: [], longestMs: longestMs ?? 60_000, say: run.say };
    await setTimeout(2_000);
    await faults(arena, partners);
    await setTimeout(1_000);
    const journal = await partners.stop();
    // During this time there is no fault that could excuse a missing dispatch round. Silent receivers need the time
    // anyway.
    await setTimeout(calmMs);
    journal.push(...(await live.stop()));
    const presses = await crowd?.goHome();
    run.say(`${journal.length} requests made; waiting until all work is done`);
    const slowdown = pace.stop();
    if (slowdown > 1.05) run.say(`pauses of the load were ${slowdown.toFixed(1)} times as long as planned`);
    await world.quiet(allDoneTimeoutMs);
    const fleetLog = await fleet.stop();
    const feeds = await crowd?.readToEnd();
    await watch.stop();
    const { standstills } = watch;
    evidence = await gatherEvidence(world, { journal, fleet: fleetLog, faults: made, standstills, feeds, presses });
    violations.push(
      ...arena.broken,
      ...violationsIn(evidence),
      ...standstillViolations(standstills, made),
      ...(check?.(evidence) ?? []),
    );
    isKept = violations.length > 0;
    return { evidence, violations };
  } finally {
    pace.stop();
    await watch.stop();
    await fleet?.stop();
    // The evidence is needed to find the cause of a violation.
    if (isKept) await keepEvidence(world, evidence, violations, run.say);
    await world.stop();
  }
}

async function keepEvidence(
  world: World,
  evidence: Evidence | undefined,
  violations: readonly string[],
  say: FigureRun['say'],
): Promise<void> {
  // The temporary files of the run are removed at its end.
  const folder = path.resolve('.cache', path.basename(path.dirname(world.logDir)));
  await fs.cp(world.logDir, folder, { recursive: true });
  await fs.writeFile(path.join(folder, 'violations.txt'), violations.join('\n'));
  const { rides, receipts, journal, faults, standstills, fleet, beside } = evidence ?? {};
  const { calls, sights, suspensions } = fleet ?? {};
  const { feeds, presses, attempts, asked, mails } = beside ?? {};
  const besides = { feeds, presses, attempts, asked, mails };
  const kept = { rides, receipts, journal, faults, standstills, calls, sights, suspensions, ...besides };
  await fs.writeFile(path.join(folder, 'evidence.json'), JSON.stringify(kept));
  say(`evidence and logs: ${folder}`);
}

/** Creates keys with all kinds of receivers. Most of them answer immediately. */
async function keysOfEveryManner(world: World) {
  const prompt = Array.from({ length: 24 }, () => 'prompt' as const);
  const others = [...manners, ...manners, 'none'] as const;
  return Promise.all([...prompt, ...others].map((manner, index) => world.newKey({ manner, copied: index % 4 === 1 })));
}

/** Runs rounds of faults in an order that depends on the seed. No kind is repeated before all kinds have occurred. */
export async function runRounds(
  run: FigureRun,
  { rounds, longestMs, replicated }: { rounds: number; longestMs: number; replicated: boolean },
): Promise<FigureResult> {
  const kinds = replicated ? replicaSetFaults : roundFaults;
  const { evidence, violations } = await runUnderFaults({
    run,
    world: { replicated },
    longestMs,
    withPeople: true,
    async faults(arena) {
      const order: string[] = [];
      while (order.length < rounds) order.push(...shuffled(arena.random, Object.keys(kinds)));
      for (const [index, name] of order.slice(0, rounds).entries()) {
        run.say(`round ${index + 1} of ${rounds}: ${name}`);
        await kinds[name]?.(arena);
        await setTimeout(between(arena.random, 500, 3_000));
      }
    },
  });
  return { reached: summaryOf(evidence), violations };
}

/** A summary of the evidence in one line. */
export function summaryOf({ rides, receipts, journal, faults, standstills, fleet, beside }: Evidence): string {
  const driven = rides.filter(({ mode, driver }) => mode === 'live' && driver).length;
  const created = journal.filter(({ status }) => status === 201).length;
  return (
    `${faults.length} faults, ${journal.length} requests, ${created} creations acknowledged, ${rides.length} rides, ` +
    `${receipts.length} attempts received, ${repeatsAmong(receipts)} of them repeated; ` +
    `${fleet.drivers.length} drivers made ${fleet.calls.length} requests and drove ${driven} rides` +
    (beside ? besideSummary(beside) : '') +
    standstillSummary(standstills, faults)
  );
}

const besideSummary = ({ feeds, presses, asked, received, past }: NonNullable<Evidence['beside']>): string =>
  `; ${presses.length} forms of people, sent ${presses.reduce((sum, { tries }) => sum + tries.length, 0)} times, ` +
  `${asked.length} resends and test events received, ${received.length} mails, ` +
  `${feeds.reduce((sum, { events }) => sum + events.length, 0)} events shown by ${feeds.length} feeds, ` +
  `${past.stored.size} old rides left`;
