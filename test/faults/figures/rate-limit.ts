import { Redis } from 'ioredis';
import { sha256 } from '../../../shared/base/ids.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { creationLog } from '../../support/charges.ts';
import type { Figure, FigureRun } from '../figure.ts';
import type { World } from '../world/world.ts';
import { createAtOnce, type Part } from './create-at-once.ts';
import type { HttpAnswer } from './http-client.ts';
import { inWorld, numbers, runConcurrently } from './in-world.ts';
import { steadyPressure } from './rate-limit-pressure.ts';
import { refundAfterOutage } from './rate-limit-refund.ts';

const limit = 30;
const burst = 300;

export const rateLimit: Figure = {
  name: 'rate-limit',
  promise: 'A key creates at most 30 rides in any 60 s, counted over all processes; failed inserts are refunded',
  goal: 'exactly 30 of 300 concurrent creations over 4 processes; never more than 30 in any 60 s; refunded when the insert fails',
  needsEngine: true,
  async measure(run) {
    const parts: Part[] = [];
    const { crashes } = await inWorld({ build: run.build, apis: 4, pools: [] }, async (world) => {
      parts.push(await bursts(world, run, { isRepeated: false }));
      parts.push(await bursts(world, run, { isRepeated: true }));
      if (!run.short) parts.push(await steadyPressure(world, 130_000));
    });
    const wired = await inWorld({ build: run.build, apis: 4, pools: [], wired: true }, async (world) => {
      parts.push(await refundAfterOutage(world, run.short ? 1 : 5));
    });
    return {
      reached: parts.map((part) => part.reached).join('; '),
      violations: [...parts.flatMap((part) => part.violations), ...crashes, ...wired.crashes],
    };
  },
};

/**
 * Sends 300 concurrent creations with each of several keys, or 100 creations three times each. Uses two keys at a time.
 */
async function bursts(world: World, run: FigureRun, { isRepeated }: { isRepeated: boolean }): Promise<Part> {
  const keyCount = run.short ? 3 : 20;
  const violations: string[] = [];
  const redis = new Redis(world.redis.url);
  await runConcurrently(numbers(keyCount), 2, async () => {
    const { keyId, key } = await world.newKey({ mode: 'live', manner: 'none' });
    const nameOf = (index: number) => (isRepeated ? `creation-${Math.floor(index / 3)}` : undefined);
    const answers = await createAtOnce(world, key, burst, nameOf);
    violations.push(...strayAnswers(answers), ...(await wrongCount(keyId, answers)));
    if (isRepeated) violations.push(...(await wrongRepeats(redis, keyId, answers, nameOf)));
  });
  redis.disconnect();
  const what = isRepeated ? '300 (100 Idempotency-Keys, each three times)' : '300';
  const reached = `exactly ${limit} rides of ${what} concurrent creations over ${world.apis.length} processes, ${keyCount} keys`;
  return { reached: violations.length ? `not ${reached}` : reached, violations };
}

function strayAnswers(answers: readonly HttpAnswer[]): string[] {
  const strays = answers.filter(({ status }) => status !== 201 && status !== 429);
  const incomplete = answers.filter(({ status, head }) => status === 429 && !/^retry-after: \d+\r?$/im.test(head));
  return [
    ...strays.map(({ status }) => `a creation was answered ${status}`),
    ...incomplete.map(() => 'a 429 has no Retry-After'),
  ];
}

async function wrongCount(keyId: string, answers: readonly HttpAnswer[]): Promise<string[]> {
  const made = new Set(answers.filter(({ status }) => status === 201).map(({ text }) => JSON.parse(text).rideId));
  const stored = await rides.countDocuments({ keyId });
  return made.size === limit && stored === limit ? [] : [`${made.size} rides were acknowledged, ${stored} are stored`];
}

/** The three requests of one creation must all return the same ride, or all be refused. */
async function wrongRepeats(
  redis: Redis,
  keyId: string,
  answers: readonly HttpAnswer[],
  nameOf: (index: number) => string | undefined,
): Promise<string[]> {
  const outcomes = new Map<string, Set<string>>();
  for (const [index, { status, text }] of answers.entries()) {
    const name = nameOf(index) ?? '';
    const outcome = status === 201 ? JSON.parse(text).rideId : `${status}`;
    outcomes.set(name, (outcomes.get(name) ?? new Set()).add(outcome));
  }
  const divided = [...outcomes].filter(([, outcome]) => outcome.size > 1);
  const charged = new Set(await redis.zrange(creationLog(keyId), '0', '-1'));
  const made = [...outcomes].filter(([, outcome]) => !outcome.has('429')).map(([name]) => sha256(name));
  const uncharged = made.filter((member) => !charged.has(member));
  return [
    ...divided.map(([name, outcome]) => `the repeats of ${name} were answered ${[...outcome].join(' and ')}`),
    ...uncharged.map(() => 'a ride was created but not charged'),
    ...(charged.size === limit ? [] : [`${charged.size} were charged`]),
  ];
}
