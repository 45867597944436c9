import { expect } from 'chai';
import { releaseRide } from '../../../shared/rides/held-rides.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { claimEvent, deliveryState } from '../../../workers/webhooks/claim-event.ts';
import { settleEvent } from '../../../workers/webhooks/settle-event.ts';
import { deliver, newKey } from '../../support/deliveries.ts';
import { newRide, rideWithEvents } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';

describe('event claims', () => {
  const ctx = useTestContext();

  const rideWith = async (events: number) => rideWithEvents(ctx, await newKey(ctx), events);
  const delivery = { outcome: 'delivered', durationMs: 1, at: new Date() } as const;
  const expireClaim = (rideId: string) =>
    rides.updateOne({ _id: rideId }, { $set: { 'claim.until': new Date(Date.now() - 1) } });

  it("a claim lasts 12 s by MongoDB's clock, returns the event, and changes no other field of the ride", async () => {
    const rideId = await rideWith(3);
    const before = await storedRide(rideId);
    const claimed = await claimEvent(rideId, 1, 'a');
    const ride = await storedRide(rideId);
    expect(claimed?.event).to.deep.equal(ride.events[0]);
    expect(claimed?.claim).to.include({ seq: 1, token: 'a' });
    expect((claimed?.claim.until.getTime() ?? 0) - (claimed?.claim.at.getTime() ?? 0)).to.equal(12_000);
    const { claim: _, ...unchanged } = ride;
    expect(unchanged).to.deep.equal(before);
  });

  it('only the token of the claim can renew it, and another one can claim the event once the claim has expired', async () => {
    const rideId = await rideWith(1);
    const first = await claimEvent(rideId, 1, 'a');
    expect(await claimEvent(rideId, 1, 'b')).to.equal(null);
    const again = await claimEvent(rideId, 1, 'a');
    expect(again?.claim.until.getTime()).to.be.at.least(first?.claim.until.getTime() ?? Infinity);
    expect(await claimEvent(rideId, 1, 'b')).to.equal(null);
    await expireClaim(rideId);
    expect((await claimEvent(rideId, 1, 'b'))?.claim.token).to.equal('b');
    expect(await claimEvent(rideId, 1, 'a')).to.equal(null);
  });

  it('an event of a held ride cannot be claimed until the ride is released, and its job ends', async () => {
    const rideId = await rideWith(2);
    const held = { heldAt: new Date(), held: { timers: [] } };
    await rides.updateOne({ _id: rideId }, { $set: held, $mul: { unsettled: -1 } });
    expect(await claimEvent(rideId, 1, 'a')).to.equal(null);
    expect(await deliveryState(rideId, 1)).to.deep.equal({ state: 'held_ride' });
    expect(await deliver(ctx, rideId, 1)).to.deep.equal({ result: 'held_ride' });
    expect(await releaseRide(rideId)).to.equal(true);
    expect((await claimEvent(rideId, 1, 'a'))?.event.seq).to.equal(1);
  });

  it("only the ride's oldest unsettled event can be claimed", async () => {
    const rideId = await rideWith(3);
    expect(await claimEvent(rideId, 2, 'a')).to.equal(null);
    await claimEvent(rideId, 1, 'a');
    await settleEvent(rideId, 1, 'a', delivery);
    expect(await claimEvent(rideId, 1, 'a')).to.equal(null);
    expect(await claimEvent(rideId, 3, 'a')).to.equal(null);
    expect((await claimEvent(rideId, 2, 'a'))?.event.seq).to.equal(2);
  });

  it('a missing event or ride cannot be claimed', async () => {
    const rideId = await newRide(ctx);
    expect(await claimEvent(rideId, 1, 'a')).to.equal(null);
    expect(await claimEvent('ride_of_nobody', 1, 'a')).to.equal(null);
    expect(await storedRide(rideId)).not.to.have.property('claim');
  });

  it('deliveryState reports if an event is held, free, settled or waiting for an earlier event', async () => {
    const rideId = await rideWith(3);
    expect(await deliveryState(rideId, 1)).to.deep.equal({ state: 'free' });
    expect(await deliveryState(rideId, 2)).to.deep.equal({ state: 'not_its_turn' });
    await claimEvent(rideId, 1, 'a');
    const held = await deliveryState(rideId, 1);
    expect(held.state).to.equal('held');
    expect('remainingMs' in held && held.remainingMs)
      .to.be.greaterThan(0)
      .and.at.most(12_000);
    await expireClaim(rideId);
    expect(await deliveryState(rideId, 1)).to.deep.equal({ state: 'free' });
    await settleEvent(rideId, 1, 'a', delivery);
    const settled = await deliveryState(rideId, 1);
    expect(settled.state).to.equal('settled');
    expect('outbox' in settled && settled.outbox).to.include({ _id: rideId, seq: 3, settledSeq: 1 });
    expect(await deliveryState('ride_of_nobody', 1)).to.deep.equal({ state: 'settled', outbox: null });
  });
});
