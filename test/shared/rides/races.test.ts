import { expect } from 'chai';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { fireTimer } from '../../support/fire-timer.ts';
import { newDriver, newRide, offerOn, rideIn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { makeDue, outcomeOf, statusesSent, storedRide } from '../../support/stored-rides.ts';

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** The number of races of each kind; `COUNT=3000` makes more. */
const count = Number(process.env.COUNT ?? 30);
const longestMs = 3_600_000;

/** Expects that a race ended with one of the allowed results. */
const expectOneOf = (texts: unknown[], allowed: string[][]) =>
  expect(texts.join(' ')).to.be.oneOf(allowed.map((result) => result.join(' ')));

describe('concurrent actions on a ride', () => {
  const ctx = useTestContext();

  const accept = (rideId: string, offerId: string) => applyAction(ctx, rideId, { action: 'accept', offerId }, 'anyone');
  const cancel = (rideId: string) => applyAction(ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');

  describe('concurrent offers', () => {
    it('a ride accepts 50 concurrent offers with correct numbers, counts, times and bodies, and refuses the 51st', async () => {
      const rideId = await newRide(ctx);
      const made = await Promise.all(
        times(50, (index) => offerOn(ctx, rideId, { price: 10 + index, etaMinutes: 1 + index })),
      );

      const ride = await storedRide(rideId);
      expect(ride).to.include({ seq: 50, unsettled: 50, settledSeq: 0, rev: 50, status: 'bidding' });
      expect(new Set(ride.offers.map(({ offerId }) => offerId))).to.deep.equal(
        new Set(made.map(({ offerId }) => offerId)),
      );
      expect(ride.events.map(({ seq }) => seq)).to.deep.equal(times(50, (index) => index + 1));
      for (const [index, event] of ride.events.entries()) {
        const offer = ride.offers[index];
        const body = JSON.parse(event.body);
        expect(body.offersCount).to.equal(index + 1);
        expect(body.offer).to.include({ offerId: offer?.offerId, price: offer?.price, etaMinutes: offer?.etaMinutes });
        expect(body.at).to.equal(event.at.getTime());
        expect(offer?.at).to.deep.equal(event.at);
        if (index > 0) expect(body.at).to.be.greaterThan(ride.events[index - 1]?.at.getTime() ?? Infinity);
      }
      expect(await outcomeOf(offerOn(ctx, rideId))).to.equal('offers_full');
      expect((await storedRide(rideId)).offers).to.have.length(50);
    });

    it('of 50 concurrent offers of one driver, one succeeds and 49 are refused', async () => {
      const rideId = await newRide(ctx);
      const driver = newDriver();
      const outcomes = await Promise.all(times(50, () => outcomeOf(offerOn(ctx, rideId, { driver }))));
      expect(outcomes.filter((outcome) => outcome === 'done')).to.have.length(1);
      expect(outcomes.filter((outcome) => outcome === 'offer_exists')).to.have.length(49);
      expect(await storedRide(rideId)).to.include({ seq: 1, rev: 1 });
    });
  });

  it('200 concurrent accepts of 50 offers accept one offer and create one event', async () => {
    const rideId = await newRide(ctx);
    for (let made = 0; made < 50; made++) await offerOn(ctx, rideId);
    const { offers } = await storedRide(rideId);
    const outcomes = await Promise.all(
      times(200, async (index) => {
        const offerId = offers[index % 50]?.offerId ?? '';
        return { offerId, outcome: await outcomeOf(accept(rideId, offerId)) };
      }),
    );
    const ride = await storedRide(rideId);
    const winners = outcomes.filter(({ outcome }) => outcome === 'done');
    expect(winners.map(({ offerId }) => offerId)).to.deep.equal(times(4, () => ride.acceptedOfferId));
    expect(outcomes.filter(({ outcome }) => outcome === 'ride_not_bidding')).to.have.length(196);
    expect(statusesSent(ride).slice(50)).to.deep.equal(['driver_arriving']);
    expect(ride).to.include({ status: 'driver_arriving', seq: 51, rev: 51 });
  });

  /** Runs many races, 30 at once. */
  async function raceAll(race: () => Promise<void>): Promise<void> {
    for (let done = 0; done < count; done += 30) await Promise.all(times(Math.min(30, count - done), race));
  }

  it('a race of accept, cancel and expiry follows the lifecycle, with one event for each that succeeds', async () => {
    await raceAll(async () => {
      const { rideId, offerId } = await rideIn(ctx, 'bidding');
      await makeDue(rideId, 'expire');
      const [accepted, cancelled, expired] = await Promise.all([
        outcomeOf(accept(rideId, offerId)),
        outcomeOf(cancel(rideId)),
        fireTimer(ctx, rideId, 'expire'),
      ]);
      const ride = await storedRide(rideId);
      expectOneOf(
        [accepted, cancelled, expired.result, ...statusesSent(ride).slice(1)],
        [
          // A cancel after the accept is allowed.
          ['done', 'done', 'stale', 'driver_arriving', 'cancelled'],
          ['ride_not_bidding', 'done', 'stale', 'cancelled'],
          ['ride_not_bidding', 'ride_ended', 'done', 'cancelled'],
        ],
      );
      expect(ride.status).to.equal('cancelled');
    });
  }).timeout(longestMs);

  it('a race of accepts, a withdrawal and cancels accepts at most one offer, and each answer agrees with the ride', async () => {
    await raceAll(async () => {
      const { rideId, offers } = await rideIn(ctx, 'bidding', { offers: [{ price: 20 }, { price: 21 }] });
      const [first = '', second = ''] = offers.map(({ offerId }) => offerId);
      const accepts = [first, first, second, Math.random() < 0.5 ? first : second];
      const withdraw = applyAction(ctx, rideId, { action: 'withdrawOffer', offerId: second }, 'anyone');
      const [withdrawn, accepted, cancelled] = await Promise.all([
        outcomeOf(withdraw),
        Promise.all(accepts.map((offerId) => outcomeOf(accept(rideId, offerId)))),
        Promise.all(times(Math.floor(Math.random() * 3), () => outcomeOf(cancel(rideId)))),
      ]);
      const ride = await storedRide(rideId);
      const won = new Set(accepts.filter((_, index) => accepted[index] === 'done'));
      expect([...won]).to.deep.equal(ride.acceptedOfferId ? [ride.acceptedOfferId] : []);
      expect(withdrawn === 'done' && won.has(second)).to.equal(false);
      const cancels = cancelled.filter((outcome) => outcome === 'done').length;
      expect(cancels).to.equal(cancelled.length > 0 ? 1 : 0);
      expect(statusesSent(ride).slice(2)).to.deep.equal([
        ...(won.size > 0 ? ['driver_arriving'] : []),
        ...(cancels > 0 ? ['cancelled'] : []),
      ]);
    });
  }).timeout(longestMs);

  it('partner and simulator accept the same offer concurrently with one event', async () => {
    await raceAll(async () => {
      const rideId = await newRide(ctx, { mode: 'test' });
      await makeDue(rideId, 'offer');
      await fireTimer(ctx, rideId, 'offer');
      const [offer] = (await storedRide(rideId)).offers;
      await makeDue(rideId, 'accept');
      const [accepted, simulated] = await Promise.all([
        outcomeOf(accept(rideId, offer?.offerId ?? '')),
        fireTimer(ctx, rideId, 'accept'),
      ]);
      const ride = await storedRide(rideId);
      expect(accepted).to.equal('done');
      expect(simulated.result).to.be.oneOf(['done', 'stale']);
      expect(statusesSent(ride)).to.deep.equal(['offer.received', 'driver_arriving']);
      expect(ride.timers.map(({ name }) => name)).to.have.members(['stall', 'arrive']);
    });
  }).timeout(longestMs);
});
