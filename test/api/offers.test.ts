import { expect } from 'chai';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { newDriver, offerOn, rideIn } from '../support/rides.ts';
import { usePartner, useTestApi } from '../support/service.ts';

describe('GET /rides/:rideId/offers', () => {
  const api = useTestApi();
  const partner = usePartner(api, 'live');

  it("the list shows an offer with exactly the fields of the contract, without the driver's phone", async () => {
    const driver = newDriver({ name: 'Ann', rating: 4.5, vehicle: 'V', plate: 'P', phone: '+12025550177' });
    const { rideId, offer } = await rideIn(api.ctx, 'bidding', {
      by: partner,
      offers: [{ driver, price: 22.5, etaMinutes: 4 }],
    });
    const { body, text } = await partner.get(`/rides/${rideId}/offers`);
    expect(body).to.deep.equal({
      rideId,
      offers: [
        {
          offerId: offer.offerId,
          price: 22.5,
          etaMinutes: 4,
          driver: { name: 'Ann', rating: 4.5, plate: 'P', vehicle: 'V' },
        },
      ],
    });
    expect(text).not.to.include('+12025550177');
  });

  it('the list has the live offers by price, then only the accepted one, and none once the ride is cancelled', async () => {
    const { rideId, offerId } = await rideIn(api.ctx, 'bidding', { by: partner });
    const listed = async (): Promise<string[]> =>
      (await partner.get(`/rides/${rideId}/offers`)).body.offers.map((offer: { offerId: string }) => offer.offerId);
    const dear = await offerOn(api.ctx, rideId, { price: 30 });
    const cheap = await offerOn(api.ctx, rideId, { price: 9.5 });
    await applyAction(api.ctx, rideId, { action: 'withdrawOffer', offerId }, 'anyone');
    expect(await listed()).to.deep.equal([cheap.offerId, dear.offerId]);
    await partner.post(`/rides/${rideId}/accept`, { offerId: dear.offerId });
    expect(await listed()).to.deep.equal([dear.offerId]);
    await partner.post(`/rides/${rideId}/cancel`);
    expect(await listed()).to.deep.equal([]);
    expect((await partner.get(`/rides/${rideId}`)).body.offersCount).to.equal(3);
  });
});
