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
import { startPartners } from '../load/partners.ts';
import { between, seededRandom, shuffled } from '../random.ts';
import { startMachineWatch } from '../world/machine-watch.ts';
import { manners } from '../world/receivers.ts';
import type { WorldOptions } from '../world/settings.ts';
import { startWorld, type World } from '../world/world.ts';
import type { Arena } from './arena.ts';
import { replicaSetFaults, roundFaults } from './faults.ts';

export interface Ordeal {
  run: FigureRun;
  /** Beyond that it is wired, and has keys of every manner. */
  world?: Partial<WorldOptions>;
  /** Creations begun a second; by default what leaves a machine of 2 cores some room, and in a short run more of it. */
  perSecond?: number;
  longestMs?: number;
  /** With people on the dashboard, feed readers and old rides. */
  withPeople?: boolean;
  /** How many drivers there are; without any, there are no live rides either. */
  drivers?: number;
  /** What is done to it while partners work. */
  faults(arena: Arena, partners: ReturnType<typeof startPartners>): Promise<void>;
  /** What is wrong beside what the checker finds: for these, too, the evidence is kept. */
  judge?(evidence: Evidence): string[];
}

export interface Outcome {
  evidence: Evidence;
  violations: string[];
}

/** The last event of a ride whose receiver is silent comes a minute after the ride's end. */
const quietMs = 150_000;
/** How long live rides go on after the last fault. */
const calmMs = 30_000;
/** More would leave every driver with five open requests. */
const livePerSecond = 0.8;
const livesManners = ['prompt', 'prompt', 'prompt', 'prompt', 'failing', 'resetting', 'none'] as const;

/**
 * Starts a world, puts partners to work in it, makes the faults, waits until nothing is left to do, and gathers the
 * evidence. What is still left to do then, the checker finds.
 */
export async function undergo({
  run,
  world: more,
  perSecond = run.short ? 6 : 10,
  longestMs,
  withPeople = false,
  drivers,
  faults,
  judge,
}: Ordeal): Promise<Outcome> {
  const random = seededRandom(run.seed);
  const world = await startWorld({ build: run.build, wired: true, seed: run.seed, withPast: withPeople, ...more });
  const made: Fault[] = [];
  const watch = startMachineWatch({ mongoUrl: world.mongo.url, redisUrl: world.redis.url, faults: made, say: run.say });
  let evidence: Evidence | undefined;
  // Evidence is kept also where the run ends with an error.
  let isKept = true;
  const violations: string[] = [];
  let fleet: Fleet | undefined;
  try {
    const keys = await keysOfEveryManner(world);
    const partners = startPartners(world, keys, seededRandom(run.seed + 1), perSecond, {
      sideShare: withPeople ? 0.3 : 0,
    });
    const liveKeys = await Promise.all(livesManners.map((manner) => world.newKey({ manner, mode: 'live' })));
    const liveRandom = seededRandom(run.seed + 2);
    fleet = await startFleet(world, liveRandom, { drivers, areConstant: drivers === 0 });
    const live = startPartners(world, drivers === 0 ? [] : liveKeys, liveRandom, livePerSecond, {
      areLive: true,
      acceptShare: 0.6,
      sideShare: withPeople ? 0.3 : 0,
    });
    const crowd = withPeople
      ? startCrowd(world, [...keys.slice(0, 3), ...liveKeys.slice(0, 1)], run.seed + 3)
      : undefined;
    const arena: Arena = { world, random, faults: made, broken: [], longestMs: longestMs ?? 60_000, say: run.say };
    await setTimeout(2_000);
    await faults(arena, partners);
    await setTimeout(1_000);
    const journal = await partners.stop();
    // Silent receivers take that long in any case; meanwhile no fault excuses a round that does not run.
    await setTimeout(calmMs);
    journal.push(...(await live.stop()));
    const presses = await crowd?.goHome();
    run.say(`${journal.length} requests made; waiting until nothing is left to do`);
    await world.quiet(quietMs);
    const fleetLog = await fleet.stop();
    const feeds = await crowd?.readToEnd();
    await watch.stop();
    const { standstills } = watch;
    evidence = await gatherEvidence(world, { journal, fleet: fleetLog, faults: made, standstills, feeds, presses });
    violations.push(
      ...arena.broken,
      ...violationsIn(evidence),
      ...standstillViolations(standstills, made),
      ...(judge?.(evidence) ?? []),
    );
    isKept = violations.length > 0;
    return { evidence, violations };
  } finally {
    await watch.stop();
    await fleet?.stop();
    // The faults are needed to find the cause of a violation.
    if (isKept) await keepEvidence(world, evidence, violations, run.say);
    await world.stop({ keep: isKept });
  }
}

async function keepEvidence(
  world: World,
  evidence: Evidence | undefined,
  violations: readonly string[],
  say: FigureRun['say'],
): Promise<void> {
  await fs.writeFile(path.join(world.logDir, 'violations.txt'), violations.join('\n'));
  const file = path.join(world.logDir, 'evidence.json');
  const { rides, receipts, journal, faults, standstills, fleet, beside } = evidence ?? {};
  const { calls, sights, suspensions } = fleet ?? {};
  const { feeds, presses, attempts, asked, mails } = beside ?? {};
  const besides = { feeds, presses, attempts, asked, mails };
  const kept = { rides, receipts, journal, faults, standstills, calls, sights, suspensions, ...besides };
  await fs.writeFile(file, JSON.stringify(kept));
  say(`the evidence and the logs are kept in ${world.logDir}`);
}

/** Most receivers answer at once, and of every other kind there are some. */
async function keysOfEveryManner(world: World) {
  const prompt = Array.from({ length: 24 }, () => 'prompt' as const);
  const others = [...manners, ...manners, 'none'] as const;
  return Promise.all([...prompt, ...others].map((manner) => world.newKey({ manner })));
}

/** Rounds of faults in an order that follows from the seed: each kind comes once before any comes again. */
export async function runRounds(
  run: FigureRun,
  { rounds, longestMs, replicated }: { rounds: number; longestMs: number; replicated: boolean },
): Promise<FigureResult> {
  const kinds = replicated ? replicaSetFaults : roundFaults;
  const { evidence, violations } = await undergo({
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

/** What the evidence is about, in a line. */
export function summaryOf({ rides, receipts, journal, faults, standstills, fleet, beside }: Evidence): string {
  const driven = rides.filter(({ mode, driver }) => mode === 'live' && driver).length;
  const created = journal.filter(({ status }) => status === 201).length;
  return (
    `${faults.length} faults, ${journal.length} requests, ${created} creations acknowledged, ${rides.length} rides, ` +
    `${receipts.length} attempts received, ${repeatsAmong(receipts)} of them second ones; ` +
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
