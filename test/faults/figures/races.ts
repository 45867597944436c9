import { setTimeout } from 'node:timers/promises';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { becomes } from '../../support/until.ts';
import type { Figure } from '../figure.ts';
import { seededRandom } from '../random.ts';
import { inWorld, numbers, runConcurrently, withContext } from './in-world.ts';
import { type Kind, kinds, raceTrack } from './race-track.ts';
import { type RaceAnswer, raceViolations } from './race-verdict.ts';

const biddingTimeoutMs = 5_000;
const settings = { BIDDING_TIMEOUT_MS: `${biddingTimeoutMs}`, SIMULATION_SPEED: '10', LOG_LEVEL: 'warn' };
/** Concurrent races of each kind. Races that mostly wait cost little. */
const concurrency: Record<Kind, number> = { partners: 28, withdrawal: 4, expiry: 120, simulator: 16 };

export const races: Figure = {
  name: 'races',
  goal: '0 double accepts, 0 illegal steps in 10,000 races',
  async measure(run) {
    const count = run.short ? 600 : 10_000;
    const options = { build: run.build, settings, pools: ['bidding', 'simulator', 'dispatch'] as const, copies: 1 };
    const { measured, crashes } = await inWorld(options, (world) =>
      withContext(world, async (ctx) => {
        let raced = 0;
        const track = raceTrack(world, ctx, seededRandom(run.seed));
        await Promise.all(
          Object.entries(kinds).map(([kind, share]) =>
            runConcurrently(numbers((count * share) / 100), concurrency[kind as Kind], async () => {
              await track.race(kind as Kind);
              raced += 1;
              if (raced % 2_000 === 0) run.say(`${raced} of ${count} races`);
            }),
          ),
        );
        track.close();
        await waitUntilSettled();
        return checkRides(track.answers);
      }),
    );
    const { violations, outcomes } = measured;
    const first = [...outcomes].map(([outcome, times]) => `${outcome} ${times.toLocaleString('en')}`).join(', ');
    const reached =
      `${violations.length} double accepts, illegal steps or contradicted answers in ${count.toLocaleString('en')} races of ` +
      `4 to 8 at once over 2 API processes; first: ${first}`;
    return { reached, violations: [...violations, ...crashes] };
  },
};

/** Waits until every bidding time and every simulated trip is over, so that late changes are checked too. */
async function waitUntilSettled(): Promise<void> {
  const open = { $or: [{ status: 'bidding' as const }, { mode: 'test' as const, nextDueAt: { $exists: true } }] };
  await becomes(async () => (await rides.countDocuments(open)) === 0, biddingTimeoutMs + 30_000, 200);
  await setTimeout(500);
}

async function checkRides(answers: ReadonlyMap<string, RaceAnswer[]>) {
  const violations: string[] = [];
  const outcomes = new Map<string, number>();
  for await (const ride of rides.find({})) {
    const own = answers.get(ride._id);
    if (!own) violations.push(`${ride._id} was never requested`);
    violations.push(...raceViolations(ride, own ?? []));
    const outcome = outcomeOf(ride, own ?? []);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }
  const stored = [...outcomes.values()].reduce((total, times) => total + times, 0);
  if (stored !== answers.size) violations.push(`${answers.size} rides were created, ${stored} are stored`);
  // Each of these must be the first in some race; otherwise the requests did not really race.
  for (const outcome of ['partner’s accept', 'partner’s cancel', 'timeout', 'simulator’s accept']) {
    if (!outcomes.has(outcome)) violations.push(`never first: ${outcome}`);
  }
  return { violations, outcomes };
}

function outcomeOf(ride: Ride, answers: readonly RaceAnswer[]): string {
  if (!ride.acceptedOfferId) return ride.cancelledBy === 'partner' ? 'partner’s cancel' : `${ride.cancelledBy}`;
  const accepted = ride.events.find(({ event }) => event === 'ride.status');
  // A later accept of the same offer is answered 200 too, so the start time decides.
  const byPartner = answers.some(
    ({ asked, status, startedAt }) =>
      asked === 'accept' && status === 200 && startedAt <= (accepted?.at.getTime() ?? 0),
  );
  return ride.mode === 'live' || byPartner ? 'partner’s accept' : 'simulator’s accept';
}
