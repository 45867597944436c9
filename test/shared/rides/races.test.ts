import { expect } from 'chai';
import { applyAction } from '../../../shared/rides/change-ride.ts';
import { fireTimer } from '../../support/fire-timer.ts';
import { newDriver, newRide, offerOn, rideIn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { makeDue, outcomeOf, statusesSent, storedRide } from '../../support/stored-rides.ts';

const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** The texts are one of the ways in which a race may end. */
const expectOneOf = (texts: unknown[], ways: string[][]) =>
  expect(texts.join(' ')).to.be.oneOf(ways.map((way) => way.join(' ')));

describe('concurrent actions on a ride', () => {
  const ctx = useTestContext();

  const accept = (rideId: string, offerId: string) => applyAction(ctx, rideId, { action: 'accept', offerId }, 'anyone');
  const cancel = (rideId: string) => applyAction(ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');

  describe('50 offers', () => {
    it('are all taken, with the right numbers, counts, times and bodies, and the 51st is refused', async () => {
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

    it('are the most a ride takes, withdrawn ones included', async () => {
      const rideId = await newRide(ctx);
      const [first] = await Promise.all(times(50, () => offerOn(ctx, rideId)));
      await applyAction(ctx, rideId, { action: 'withdrawOffer', offerId: first?.offerId ?? '' }, 'anyone');
      expect(await outcomeOf(offerOn(ctx, rideId))).to.equal('offers_full');
    });

    it('of one driver are one offer and 49 refusals', async () => {
      const rideId = await newRide(ctx);
      const driver = newDriver();
      const outcomes = await Promise.all(times(50, () => outcomeOf(offerOn(ctx, rideId, { driver }))));
      expect(outcomes.filter((outcome) => outcome === 'done')).to.have.length(1);
      expect(outcomes.filter((outcome) => outcome === 'offer_exists')).to.have.length(49);
      expect(await storedRide(rideId)).to.include({ seq: 1, rev: 1 });
    });
  });

  it('accepts one of 50 offers under 200 concurrent accepts, and sends one event', async () => {
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

  it('lets either accept or expiry win, with one event', async () => {
    await Promise.all(
      times(30, async () => {
        const { rideId, offerId } = await rideIn(ctx, 'bidding');
        await makeDue(rideId, 'expire');
        const [accepted, expired] = await Promise.all([
          outcomeOf(accept(rideId, offerId)),
          fireTimer(ctx, rideId, 'expire'),
        ]);
        const sent = statusesSent(await storedRide(rideId)).slice(1);
        expectOneOf(
          [accepted, expired.result, ...sent],
          [
            ['done', 'stale', 'driver_arriving'],
            ['ride_not_bidding', 'done', 'cancelled'],
          ],
        );
      }),
    );
  });

  it('lets either cancel or expiry win, with one event that says who cancelled', async () => {
    await Promise.all(
      times(30, async () => {
        const rideId = await newRide(ctx);
        await makeDue(rideId, 'expire');
        const [cancelled, expired] = await Promise.all([outcomeOf(cancel(rideId)), fireTimer(ctx, rideId, 'expire')]);
        const ride = await storedRide(rideId);
        expectOneOf(
          [cancelled, expired.result, ride.cancelledBy],
          [
            ['done', 'stale', 'partner'],
            ['ride_ended', 'done', 'timeout'],
          ],
        );
        expect(statusesSent(ride)).to.deep.equal(['cancelled']);
      }),
    );
  });

  it('keeps to the lifecycle under accept, cancel and expiry, with one event for each that won', async () => {
    await Promise.all(
      times(30, async () => {
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
            // A cancel that lost to the accept is legal after it.
            ['done', 'done', 'stale', 'driver_arriving', 'cancelled'],
            ['ride_not_bidding', 'done', 'stale', 'cancelled'],
            ['ride_not_bidding', 'ride_ended', 'done', 'cancelled'],
          ],
        );
        expect(ride.status).to.equal('cancelled');
      }),
    );
  });

  it('sends one event where the partner and the simulator accept the same offer', async () => {
    await Promise.all(
      times(20, async () => {
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
      }),
    );
  });
});
