import { expect } from 'chai';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { changeRide } from '../../../shared/rides/change-ride.ts';
import { visibleOffers } from '../../../shared/rides/offers.ts';
import { type RideOwner, readRide } from '../../../shared/rides/read-ride.ts';
import { newDriver, newRide, offerOn, rideIn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { endBidding, outcomeOf, storedRide } from '../../support/stored-rides.ts';

describe('accepting an offer', () => {
  const ctx = useTestContext();

  const accept = (rideId: string, offerId: string, owner: RideOwner = 'anyone') =>
    applyAction(ctx, rideId, { action: 'accept', offerId }, owner);

  it('keeps the fare, the offer with its driver, and the agreed price', async () => {
    const rideId = await newRide(ctx, { fare: 25 });
    const driver = newDriver({ name: 'Ines Duarte' });
    await offerOn(ctx, rideId, { price: 20 });
    const { offerId } = await offerOn(ctx, rideId, { driver, price: 31.5 });
    const ride = await accept(rideId, offerId);
    expect(ride).to.include({ fare: 25, agreedPrice: 31.5, acceptedOfferId: offerId });
    expect(ride.driver).to.deep.equal(driver);
    expect(visibleOffers(ride).map((offer) => offer.offerId)).to.deep.equal([offerId]);
  });

  for (const status of ['driver_arriving', 'arrived', 'in_progress'] as const) {
    it(`answers the accepted offer again with the ride, writing nothing, while it is ${status}`, async () => {
      const { rideId, offerId } = await rideIn(ctx, status);
      const before = await storedRide(rideId);
      expect((await accept(rideId, offerId)).status).to.equal(status);
      expect(await storedRide(rideId)).to.deep.equal(before);
    });
  }

  it('refuses the accepted offer once the ride has ended', async () => {
    const { rideId, offerId } = await rideIn(ctx, 'completed');
    expect(await outcomeOf(accept(rideId, offerId))).to.equal('ride_not_bidding');
    const other = await rideIn(ctx, 'driver_arriving');
    await applyAction(ctx, other.rideId, { action: 'cancel', by: 'driver' }, 'anyone');
    expect(await outcomeOf(accept(other.rideId, other.offerId))).to.equal('ride_not_bidding');
  });

  it('reports an unknown offer before any other refusal', async () => {
    for (const status of ['bidding', 'in_progress', 'completed', 'cancelled'] as const) {
      const { rideId } = await rideIn(ctx, status);
      expect(await outcomeOf(accept(rideId, 'offer_of_nobody'))).to.equal('offer_not_found');
    }
    const { rideId } = await rideIn(ctx, 'bidding');
    const foreign = await rideIn(ctx, 'bidding');
    expect(await outcomeOf(accept(rideId, foreign.offerId))).to.equal('offer_not_found');
  });

  it('reports a ride of another key as unknown, and does not change it', async () => {
    const { rideId, offerId } = await rideIn(ctx, 'bidding', { keyId: 'key_of_this_ride' });
    const before = await storedRide(rideId);
    expect(await outcomeOf(accept(rideId, offerId, { keyId: 'key_of_another' }))).to.equal('ride_not_found');
    expect(await outcomeOf(accept('ride_of_nobody', offerId, { keyId: 'key_of_another' }))).to.equal('ride_not_found');
    expect(await storedRide(rideId)).to.deep.equal(before);
  });

  it('does not compile without an owner', () => {
    const withoutOwner = [
      // @ts-expect-error: the owner is missing
      () => applyAction(ctx, 'ride_1', { action: 'arrive' }),
      // @ts-expect-error: the owner is missing
      () => changeRide(ctx, { rideId: 'ride_1' }, () => null),
      // @ts-expect-error: the owner is missing
      () => readRide({ rideId: 'ride_1' }),
      // @ts-expect-error: a key that may be undefined is no owner
      (keyId?: string) => readRide({ rideId: 'ride_1', owner: { keyId } }),
    ];
    expect(withoutOwner).to.have.length(4);
  });

  it('refuses an offer that was withdrawn; a ride that is over says so first', async () => {
    const { rideId, offerId } = await rideIn(ctx, 'bidding');
    await applyAction(ctx, rideId, { action: 'withdrawOffer', offerId }, 'anyone');
    expect(await outcomeOf(accept(rideId, offerId))).to.equal('offer_withdrawn');
    await endBidding(rideId);
    expect(await outcomeOf(accept(rideId, offerId))).to.equal('bidding_over');
  });

  it('takes a new offer of a driver who has withdrawn one, and counts both', async () => {
    const rideId = await newRide(ctx);
    const driver = newDriver();
    const first = await offerOn(ctx, rideId, { driver, price: 20 });
    expect(await outcomeOf(offerOn(ctx, rideId, { driver }))).to.equal('offer_exists');
    await applyAction(ctx, rideId, { action: 'withdrawOffer', offerId: first.offerId }, 'anyone');
    const second = await offerOn(ctx, rideId, { driver, price: 22 });
    const ride = await storedRide(rideId);
    expect(visibleOffers(ride).map(({ offerId }) => offerId)).to.deep.equal([second.offerId]);
    expect(JSON.parse(ride.events.at(-1)?.body ?? '')).to.include({ offersCount: 2 });
    expect(
      await outcomeOf(applyAction(ctx, rideId, { action: 'withdrawOffer', offerId: first.offerId }, 'anyone')),
    ).to.equal('offer_withdrawn');
  });
});
