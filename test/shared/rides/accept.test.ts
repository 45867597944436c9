import { expect } from 'chai';
import { applyAction, changeRide } from '../../../shared/rides/change-ride.ts';
import { visibleOffers } from '../../../shared/rides/offers.ts';
import { type RideOwner, readRide } from '../../../shared/rides/read-ride.ts';
import { newDriver, newRide, offerOn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { outcomeOf, storedRide } from '../../support/stored-rides.ts';

describe('offers of a ride', () => {
  const ctx = useTestContext();

  const accept = (rideId: string, offerId: string, owner: RideOwner = 'anyone') =>
    applyAction(ctx, rideId, { action: 'accept', offerId }, owner);

  it('an accept stores the offer, its driver and the agreed price, and keeps the fare', async () => {
    const rideId = await newRide(ctx, { fare: 25 });
    const driver = newDriver({ name: 'Ines Duarte' });
    await offerOn(ctx, rideId, { price: 20 });
    const { offerId } = await offerOn(ctx, rideId, { driver, price: 31.5 });
    const ride = await accept(rideId, offerId);
    expect(ride).to.include({ fare: 25, agreedPrice: 31.5, acceptedOfferId: offerId });
    expect(ride.driver).to.deep.equal(driver);
    expect(visibleOffers(ride).map((offer) => offer.offerId)).to.deep.equal([offerId]);
  });

  it('reading or changing a ride without an owner does not compile', () => {
    const withoutOwner = [
      // @ts-expect-error: the owner is missing
      () => applyAction(ctx, 'ride_1', { action: 'arrive' }),
      // @ts-expect-error: the owner is missing
      () => changeRide(ctx, { rideId: 'ride_1' }, () => ({ change: null, result: null })),
      // @ts-expect-error: the owner is missing
      () => readRide({ rideId: 'ride_1' }),
      // @ts-expect-error: a key that may be undefined is not an owner
      (keyId?: string) => readRide({ rideId: 'ride_1', owner: { keyId } }),
    ];
    expect(withoutOwner).to.have.length(4);
  });

  it('a driver can make a new offer after withdrawing one, and both count', async () => {
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
