import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { behaviourOf, bidOn } from '../../dev/fleet/behaviour.ts';
import { lineOf } from '../../dev/fleet/figures.ts';
import { readArguments } from '../../dev/fleet/fleet-arguments.ts';
import { randomOf } from '../../dev/fleet/random.ts';
import { nodeCommand } from '../../dev/servers/processes.ts';
import type { Point } from '../../shared/base/great-circle.ts';
import { httpRequests } from '../../shared/base/metrics.ts';
import { drivers } from '../../shared/drivers/driver.ts';
import { findNearby } from '../../shared/drivers/nearby.ts';
import { positions } from '../../shared/drivers/positions.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { runDispatch, somewhere } from '../support/drivers.ts';
import { testSettings, useTestApi } from '../support/service.ts';
import { type StartedProgram, startProgram } from '../support/started-program.ts';
import { storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';

describe('npm run fleet', () => {
  const count = 12;
  const api = useTestApi();
  let place: Point;
  let fleet: StartedProgram;

  async function start(): Promise<void> {
    place = somewhere();
    const area = `${place.lat},${place.lng},1`;
    const args = ['--drivers', `${count}`, '--area', area, '--seed', '3', '--speed', '1000', '--url', api.url];
    fleet = startProgram(nodeCommand('dev/fleet.ts', args), { env: { ...process.env, ...testSettings() } });
    await until(async () => fleet.child.exitCode !== null || (await nearby()).length === count);
    if (fleet.child.exitCode !== null) throw new Error(fleet.errors());
  }
  /** The drivers of the fleet that a dispatch round would ask `afterMs` from now. */
  async function nearby(afterMs = 0): Promise<string[]> {
    const now = new Date(api.ctx.now() + afterMs);
    const wanted = { pickup: place, carType: 'regular', passengerCount: 1 } as const;
    const found = await findNearby(wanted, { radiusKm: 12, passed: [], limit: 50, now });
    return found.map(({ driverId }) => driverId);
  }
  /** Creates a ride, runs its dispatch round and waits for an offer. */
  async function rideWithOffer(fields: object = {}) {
    const partner = await api.partner('live');
    const { lat, lng } = place;
    const { rideId } = (await partner.createRide({ pickup: place, destination: { lat: lat + 0.05, lng }, ...fields }))
      .body;
    await runDispatch(api.ctx, rideId);
    await until(async () => (await storedRide(rideId)).offers.some(({ withdrawnAt }) => !withdrawnAt));
    const accept = async () => {
      const { offers } = (await partner.get(`/rides/${rideId}/offers`)).body;
      await partner.post(`/rides/${rideId}/accept`, { offerId: offers[0].offerId });
      await runDispatch(api.ctx, rideId, 'driver');
    };
    return { rideId, accept };
  }

  async function refusedStarts(): Promise<number> {
    const { values } = await httpRequests.get();
    return values.filter(({ labels }) => String(labels.route).endsWith('/ride/start') && labels.status === 409).length;
  }

  it('the fleet bids on a ride and drives it, and on SIGTERM takes its drivers offline and exits with 0', async () => {
    await start();
    const ids = await nearby();
    const driven = await rideWithOffer();
    await driven.accept();
    await until(async () => (await storedRide(driven.rideId)).status === 'completed');
    const { rideId } = await rideWithOffer();
    expect(await fleet.end('SIGTERM')).to.equal(0);
    expect(fleet.errors()).to.include('all drivers are offline');
    const left = await positions.find({ _id: { $in: ids } }).toArray();
    expect(left.map(({ isOnline, available }) => isOnline || available)).to.deep.equal(ids.map(() => false));
    const { status, offers } = await storedRide(rideId);
    expect(status).to.equal('bidding');
    expect(offers.filter(({ withdrawnAt }) => !withdrawnAt)).to.deep.equal([]);
    // The fleet has revoked its drivers, because nobody keeps their keys.
    expect(await drivers.countDocuments({ _id: { $in: ids }, revokedAt: { $exists: false } })).to.equal(0);
  });

  it('a driver of the fleet waits for the PIN of a ride, and drives on when the desk has started the trip', async () => {
    await start();
    const { rideId, accept } = await rideWithOffer({ pin: true });
    await accept();
    await until(async () => (await storedRide(rideId)).status === 'arrived');
    // The driver has tried to start without the PIN.
    await until(async () => (await refusedStarts()) > 0);
    await applyAction(api.ctx, rideId, { action: 'start' }, 'anyone');
    await until(async () => (await storedRide(rideId)).status === 'completed');
    expect(await fleet.end('SIGTERM')).to.equal(0);
    expect(fleet.output()).to.match(/ 1 done {2}0 cancelled {2}0 errors\s*$/);
  });

  it('60 s after a SIGKILL, no driver of the fleet receives requests', async () => {
    await start();
    await fleet.end('SIGKILL');
    expect(await nearby()).to.have.lengthOf(count);
    expect(await nearby(60_001)).to.deep.equal([]);
  });

  it('the fleet reports an invalid argument in one line, and ends with exit code 2', async () => {
    const [file = '', ...rest] = nodeCommand('dev/fleet.ts', ['--drivers', '5', '--area', 'here']);
    const ended = await promisify(execFile)(file, rest).catch((error) => error);
    expect(ended.code).to.equal(2);
    expect(ended.stderr).to.match(/^fleet: --area must be LAT,LNG,KM[^\n]+\n$/);
  });
});

describe('the arguments of npm run fleet', () => {
  const read = (...args: string[]) => readArguments(args, { SIMULATION_SPEED: '4' });

  it('an area south of the equator is accepted, and SIMULATION_SPEED is the default speed', () => {
    const { area, speed, drivers: count } = read('--drivers', '20', '--area', '-33.87,-151.2,3');
    expect(area).to.deep.equal({ lat: -33.87, lng: -151.2, km: 3 });
    expect([speed, count]).to.deep.equal([4, 20]);
    expect(read('--drivers', '1', '--area', '1,2,3', '--speed', '0.5').speed).to.equal(0.5);
  });

  const wrong: [args: string[], problem: RegExp][] = [
    [[], /required option '--area <LAT,LNG,KM>'/],
    [['--area', '1,2,3'], /--drivers is missing/],
    [['--drivers', '0', '--area', '1,2,3'], /--drivers must be a whole number from 1/],
    [['--drivers', '5', '--area', '91,2,3'], /--area must be/],
    [['--drivers', '5', '--area', '1,2'], /--area must be/],
    [['--drivers', '5', '--area', '1,2,'], /--area must be/],
    [['--drivers', '5', '--area', '1,2,3', '--speed', '-1'], /--speed/],
    [['--drivers', '5', '--area', '1,2,3', '--url', 'ftp://x'], /--url must be an address/],
    [['--keys', 'file', '--area', '1,2,3'], /--keys needs --url/],
    [['--area', '1,2,3', '--fleet'], /unknown option '--fleet'/],
  ];
  for (const [args, problem] of wrong) {
    it(`these arguments are refused: ${args.join(' ') || 'none'}`, () => {
      expect(() => read(...args)).to.throw(problem);
    });
  }
});

describe('simulated drivers', () => {
  const choicesOf = (seed: number) => {
    const behaviour = behaviourOf(randomOf(seed, 0, 'character'));
    const random = randomOf(seed, 0, 'choices');
    const request = { fare: 20, pickupKm: 2 };
    return Array.from({ length: 50 }, () => bidOn(request, behaviour, random, 30));
  };

  it('drivers make the same choices with the same seed', () => {
    expect(choicesOf(5)).to.deep.equal(choicesOf(5));
    expect(choicesOf(5)).not.to.deep.equal(choicesOf(6));
  });

  it('drivers accept the fare, counter it, withdraw, or ignore a request', () => {
    const all = Array.from({ length: 100 }, (_, seed) => choicesOf(seed)).flat();
    const bids = all.filter((bid) => bid !== undefined);
    expect(bids.length).to.be.within(1_000, 3_000);
    for (const { price, etaMinutes } of bids) {
      expect(price).to.be.within(20, 26);
      expect(etaMinutes).to.equal(4);
    }
    expect(bids.filter(({ price }) => price === 20).length).to.be.above(bids.length / 4);
    expect(bids.filter(({ price }) => price > 20).length).to.be.above(bids.length / 8);
    expect(bids.filter(({ withdrawAfterMs }) => withdrawAfterMs !== undefined).length).to.be.within(1, bids.length / 4);
  });

  it('the counters of the fleet fit in a line of 80 characters', () => {
    const figures = { online: 1_000, requests: 12_345, offers: 9_999, underWay: 300, completed: 9_999 };
    const line = lineOf({ ...figures, cancelled: 99, errors: 9 }, 79);
    expect(line).to.equal('1000 online 12.3k asked 9999 offers 300 riding 9999 done 99 cancelled 9 errors');
  });
});
