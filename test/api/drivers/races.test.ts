import { expect } from 'chai';
import fc from 'fast-check';
import { suspendDriver } from '../../../shared/drivers/manage-drivers.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { isMoving } from '../../../shared/rides/transitions.ts';
import { settleDrivers } from '../../../workers/periodic/sweeper/mongo-work.ts';
import type { Answer } from '../../support/client.ts';
import { type GatewayDriver, newGatewayDriver, runDispatch, somewhere } from '../../support/drivers.ts';
import { useTestApi } from '../../support/service.ts';
import { overlap, timeOnRide } from '../../support/time-on-ride.ts';

const seed = Number(process.env.SEED ?? 20_251_121);
/** `COUNT=10000` makes more races. */
const count = Number(process.env.COUNT ?? 30);
const atOnce = 10;

const moves = [
  'accept',
  'withdraw',
  'decline',
  'cancel',
  'offer again',
  'cancel by driver',
  'offline',
  'suspend',
] as const;
type Move = (typeof moves)[number];
/** The concurrent actions on the first and the second ride. Both partners accept in most races. */
const race = fc.record({
  first: fc.subarray<Move>([...moves, 'accept'], { minLength: 1, maxLength: 4 }),
  second: fc.subarray<Move>([...moves, 'accept'], { minLength: 1, maxLength: 4 }),
});

describe(`${count.toLocaleString('en')} races for one driver`, () => {
  const api = useTestApi();

  /** Creates a ride of a new partner with an offer of the driver. */
  async function offered(driver: GatewayDriver, pickup: { lat: number; lng: number }) {
    const partner = await api.partner('live');
    const { rideId } = (await partner.createRide({ pickup })).body;
    await runDispatch(api.ctx, rideId);
    const terms = { price: 20, etaMinutes: 5 };
    const { offerId } = (await driver.post(`/requests/${rideId}/offers`, terms)).body;
    const act: Record<Move, () => Promise<unknown>> = {
      accept: () => partner.post(`/rides/${rideId}/accept`, { offerId }),
      withdraw: () => driver.remove(`/requests/${rideId}/offers/${offerId}`),
      decline: () => driver.remove(`/requests/${rideId}`),
      cancel: () => partner.post(`/rides/${rideId}/cancel`),
      'offer again': () => driver.post(`/requests/${rideId}/offers`, terms),
      'cancel by driver': () => driver.post('/ride/cancel', { rideId }),
      offline: () => driver.post('/me/offline'),
      suspend: () => suspendDriver(driver.driverId),
    };
    return { rideId, partner, offerId, act };
  }

  async function run({ first, second }: { first: Move[]; second: Move[] }) {
    const place = somewhere();
    const driver = await newGatewayDriver(api, { at: place });
    const both = [await offered(driver, place), await offered(driver, place)] as const;
    const [one, two] = both;
    const answers = await Promise.all([
      ...first.map((move) => one.act[move]()),
      ...second.map((move) => two.act[move]()),
    ]);
    for (const answer of answers) {
      if (answer) expect((answer as Answer).status).to.be.oneOf([200, 201, 204, 401, 409]);
    }
    // Runs the job that a worker would run.
    for (const { rideId } of both) await runDispatch(api.ctx, rideId, 'driver');
    await settleDrivers(api.ctx, new Date(api.ctx.now()));
    const found = (await rides.find({ _id: { $in: both.map(({ rideId }) => rideId) } }).toArray()) as Ride[];
    const [a, b] = found.map(timeOnRide);
    expect(overlap(a, b), 'two rides at a time').to.equal(false);
    const isSuspended = [...first, ...second].includes('suspend');
    const moving = found.filter(({ status }) => isMoving(status));
    const liveOffers = found
      .filter(({ status }) => status === 'bidding')
      .flatMap(({ offers }) => offers.filter(({ withdrawnAt }) => !withdrawnAt));
    expect(moving.length).to.be.at.most(isSuspended ? 0 : 1);
    if (moving.length > 0 || isSuspended) expect(liveOffers).to.deep.equal([]);
    for (const { rideId, partner } of both) await partner.post(`/rides/${rideId}/cancel`);
  }

  it(`races never put a driver on two rides or leave an invalid offer (seed ${seed})`, async function () {
    this.timeout(3_600_000);
    const batch = fc.array(race, { minLength: atOnce, maxLength: atOnce });
    await fc.assert(
      fc.asyncProperty(batch, async (races) => {
        await Promise.all(races.map(run));
      }),
      { seed, numRuns: Math.ceil(count / atOnce), endOnFailure: true, includeErrorInReport: true },
    );
  });
});
