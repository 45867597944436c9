import fs from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { disconnectMongo } from '../../shared/base/mongo/connect-mongo.ts';
import { rides } from '../../shared/rides/ride.ts';
import { testBuild } from '../support/service-process.ts';
import { violationsIn } from './check/checker.ts';
import { gatherEvidence } from './check/evidence.ts';
import { startCrowd } from './load/crowd.ts';
import { type Fleet, type FleetLog, startFleet } from './load/fleet.ts';
import { startPartners } from './load/partners.ts';
import type { Button, Press } from './load/person.ts';
import type { Call } from './load/request.ts';
import { plant, plantedRuns } from './planted-bugs.ts';
import { seededRandom } from './random.ts';
import { startMachineWatch } from './world/machine-watch.ts';
import { startWorld, type World } from './world/world.ts';

interface RunOptions {
  withDrivers?: boolean;
  /**
   * Adds people on the dashboard, feed readers, old rides, and rides with raised fares, manual steps and auto-accept.
   */
  withCrowd?: boolean;
}

/** A wrongly assigned driver may never arrive; short timeouts end such a ride, so that the run does not wait for it. */
const shortTrips = { PICKUP_TIMEOUT_MS: '20000', TRIP_TIMEOUT_MS: '20000' };

/**
 * Runs real processes under a short load, quick enough for a test, and returns the violations that the checker finds.
 */
async function violationsOf(
  build: string,
  { withDrivers = false, withCrowd = false }: RunOptions = {},
): Promise<string[]> {
  const settings = {
    ...(withDrivers && shortTrips),
    SIMULATION_SPEED: '10',
    BIDDING_TIMEOUT_MS: '2000',
    DISPATCH_ROUNDS: '3@0,12@0.3',
    DISPATCH_REPEAT_MS: '500',
  };
  const world = await startWorld({ build, apis: 1, copies: 1, together: true, settings, withPast: withCrowd });
  const watch = startMachineWatch({ mongoUrl: world.mongo.url, redisUrl: world.redis.url, faults: [] });
  let fleet: Fleet | undefined;
  try {
    // Enough keys that the limit on creations never stops the load.
    const keys = await Promise.all(Array.from({ length: 10 }, (_, index) => world.newKey({ copied: index < 3 })));
    if (withCrowd) keys.push(await world.newKey({ manner: 'failing' }));
    const partners = startPartners(world, keys, seededRandom(1), 40, {
      scenarios: ['default', 'three_offers', 'three_offers'],
      maxRidesInUse: 30,
      sideShare: withCrowd ? 0.5 : 0,
    });
    const crowd = withCrowd ? startCrowd(world, keys.slice(0, 3), 4, { pauseMs: 400, hasOneTurn: true }) : undefined;
    const drivers = withDrivers ? 4 : 0;
    fleet = await startFleet(world, seededRandom(2), { drivers, pauseMs: 60, areConstant: true });
    const live = withDrivers ? await startLivePartners(world) : undefined;
    while (!isEnough(partners.journal) || (live && !isEnoughLive(fleet.log))) await setTimeout(20);
    while (withDrivers && !(await isOneOfThreeChosen())) await setTimeout(20);
    while (crowd && !isEnoughBeside(crowd.log, partners.journal)) await setTimeout(20);
    const presses = await crowd?.goHome();
    const journal = [...(await partners.stop()), ...((await live?.stop()) ?? [])];
    await world.quiet(240_000);
    const seen = { presses, feeds: await crowd?.readToEnd() };
    const log = { journal, fleet: await fleet.stop(), faults: [], standstills: watch.standstills, ...seen };
    return violationsIn(await gatherEvidence(world, log));
  } finally {
    await watch.stop();
    await fleet?.stop();
    await world.stop();
  }
}

async function startLivePartners(world: World) {
  const keys = await Promise.all([1, 2, 3, 4].map(() => world.newKey({ mode: 'live' })));
  return startPartners(world, keys, seededRandom(3), 3, { areLive: true, acceptShare: 0.8, maxRidesInUse: 6 });
}

/** True once a ride with at least three asked drivers has a driver. Only then is the planted wrong driver certain. */
const isOneOfThreeChosen = async (): Promise<boolean> =>
  (await rides.findOne({ mode: 'live', driver: { $exists: true }, 'asked.2': { $exists: true } })) !== null;

const isEnoughLive = ({ calls }: FleetLog): boolean =>
  calls.filter(({ operation, status }) => operation === 'complete' && status === 200).length >= 2;

/** True once each button was pressed at least twice and there were enough manual steps and raised fares. */
function isEnoughBeside(presses: readonly Press[], journal: readonly Call[]): boolean {
  const pressed = (button: Button) => presses.filter((press) => press.button === button && press.status > 0).length;
  const calls = (operation: Call['operation']) => journal.filter((call) => call.operation === operation).length;
  const buttons: Button[] = ['code', 'revoke', 'resend', 'resend failed', 'new ride'];
  return (
    buttons.every((button) => pressed(button) >= 2) && calls('step') >= 10 && calls('raise') >= 6 && calls('tell') >= 4
  );
}

/**
 * True once the load is enough for every planted bug to show: enough rides, and some of them with two concurrent
 * accepts of different offers.
 */
function isEnough(journal: readonly Call[]): boolean {
  const created = journal.filter(({ operation }) => operation === 'create');
  const accepts = journal.filter(({ operation }) => operation === 'accept');
  const ofTwo = accepts.filter(({ rideId, offerId }) =>
    accepts.some((other) => other.status === 200 && other.rideId === rideId && other.offerId !== offerId),
  );
  return created.length >= 40 && new Set(ofTwo.map(({ rideId }) => rideId)).size >= 5;
}

describe('the checker of the fault suite', function () {
  // Each run starts the whole service: 6 s on an idle machine.
  this.timeout(300_000);
  let build: string;
  const copies: string[] = [];

  before(async () => {
    build = testBuild();
    await disconnectMongo();
  });
  after(() => Promise.all(copies.map((folder) => fs.rm(folder, { recursive: true, force: true }))));

  it('the checker finds no violation in the real service', async () => {
    expect((await violationsOf(build, { withDrivers: true, withCrowd: true })).join('\n')).to.equal('');
  });

  for (const { bugs, withDrivers, withCrowd } of plantedRuns) {
    it(`the checker catches a service that ${bugs.map(({ what }) => what).join(', or ')}`, async () => {
      const copy = await plant(build, bugs);
      copies.push(copy);
      const violations = (await violationsOf(copy, { withDrivers, withCrowd })).join('\n');
      for (const { caughtAs } of bugs) expect(violations).to.match(caughtAs);
    });
  }
});
