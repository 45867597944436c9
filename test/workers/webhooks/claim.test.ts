import { expect } from 'chai';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { releaseRide } from '../../../shared/rides/held-rides.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Delivery } from '../../../shared/rides/ride-types.ts';
import { claimEvent, deliveryState } from '../../../workers/webhooks/claim-event.ts';
import { settleEvent, settleLast } from '../../../workers/webhooks/settle-event.ts';
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
    for (const seq of [2, 4]) expect(await claimEvent(rideId, seq, 'a')).to.equal(null);
    expect(await claimEvent(await newRide(ctx), 1, 'a')).to.equal(null);
    expect(await claimEvent('ride_of_nobody', 1, 'a')).to.equal(null);
    await claimEvent(rideId, 1, 'a');
    await settleEvent(rideId, 1, 'a', delivery);
    expect(await claimEvent(rideId, 1, 'a')).to.equal(null);
    expect(await claimEvent(rideId, 3, 'a')).to.equal(null);
    expect((await claimEvent(rideId, 2, 'a'))?.event.seq).to.equal(2);
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

describe('settling events', () => {
  const ctx = useTestContext();

  const claimedRide = async (events: number, token = 'a') => {
    const rideId = await rideWithEvents(ctx, await newKey(ctx), events);
    await claimEvent(rideId, 1, token);
    return rideId;
  };
  const delivered: Delivery = {
    outcome: 'delivered',
    url: 'https://partner.example/hook',
    httpStatus: 204,
    durationMs: 12,
    at: new Date(1_000),
  };

  it('settling records the outcome, advances settledSeq and ends the claim in one write', async () => {
    const rideId = await claimedRide(3);
    const { keyId } = await storedRide(rideId);
    expect(await settleEvent(rideId, 1, 'a', delivered)).to.deep.equal({ _id: rideId, keyId, seq: 3, settledSeq: 1 });
    const ride = await storedRide(rideId);
    expect(ride).to.include({ settledSeq: 1, unsettled: 2, seq: 3 }).and.not.to.have.property('claim');
    expect(ride.events.map(({ delivery }) => delivery)).to.deep.equal([delivered, undefined, undefined]);
  });

  it('every outcome but `delivered` sets undeliveredAt on the ride', async () => {
    for (const [index, outcome] of (['failed', 'timeout', 'blocked', 'no_url', 'delivered'] as const).entries()) {
      for (const settle of [settleEvent, settleLast]) {
        const rideId = await claimedRide(1);
        const at = new Date(1_000 * index);
        await settle(rideId, 1, 'a', { outcome, durationMs: 1, at });
        const expected = outcome === 'delivered' ? undefined : at;
        expect((await storedRide(rideId)).undeliveredAt, outcome).to.deep.equal(expected);
      }
    }
  });

  it('settling sets unsettledSince to the time at which the next event became the oldest unsettled one', async () => {
    const rideId = await claimedRide(3);
    const before = await storedRide(rideId);
    expect(before.unsettledSince).to.deep.equal(before.events[0]?.at);
    await settleEvent(rideId, 1, 'a', delivered);
    const { unsettledSince, events } = await storedRide(rideId);
    expect(unsettledSince).to.be.at.least(events[2]?.at as Date);
    for (const seq of [2, 3]) {
      await claimEvent(rideId, seq, 'b');
      await settleEvent(rideId, seq, 'b', delivered);
    }
    await applyAction(ctx, rideId, { action: 'start' }, 'anyone');
    const after = await storedRide(rideId);
    expect(after.unsettledSince).to.deep.equal(after.events[3]?.at);
  });

  it('an event is settled only once by concurrent runs with the same or another token', async () => {
    const rideId = await claimedRide(2);
    const answers = await Promise.all(
      ['a', 'a', 'b', 'a', 'b'].map((token) => settleEvent(rideId, 1, token, delivered)),
    );
    expect(answers.filter((answer) => answer !== null)).to.have.length(1);
    expect(await storedRide(rideId)).to.include({ settledSeq: 1, unsettled: 1 });
  });

  it('a run can settle after its claim expired if no other run has claimed the event, or if MongoDB lost the claim', async () => {
    const expired = await claimedRide(1);
    await rides.updateOne({ _id: expired }, { $set: { 'claim.until': new Date(0) } });
    expect(await settleEvent(expired, 1, 'a', delivered)).to.include({ settledSeq: 1 });
    const lost = await claimedRide(1);
    await rides.updateOne({ _id: lost }, { $unset: { claim: '' } });
    expect(await settleEvent(lost, 1, 'a', delivered)).to.include({ settledSeq: 1 });
  });

  it('settling skips no event and settles none twice', async () => {
    const rideId = await claimedRide(3);
    expect(await settleEvent(rideId, 2, 'a', delivered)).to.equal(null);
    await settleEvent(rideId, 1, 'a', delivered);
    expect(await settleEvent(rideId, 1, 'a', { ...delivered, outcome: 'timeout' })).to.equal(null);
    expect(await storedRide(rideId)).to.include({ settledSeq: 1, unsettled: 2 });
    expect((await storedRide(rideId)).events[0]?.delivery?.outcome).to.equal('delivered');
  });

  it("settleLast settles only the ride's last event", async () => {
    const [two, one] = [await claimedRide(2), await claimedRide(1)];
    const before = await storedRide(two);
    expect(await settleLast(two, 1, 'a', delivered)).to.equal(false);
    expect(await storedRide(two)).to.deep.equal(before);
    expect(await settleLast(one, 1, 'b', delivered)).to.equal(false);
    expect(await settleLast(one, 1, 'a', delivered)).to.equal(true);
    expect(await storedRide(one)).to.include({ settledSeq: 1, unsettled: 0 });
  });

  it('settling and a concurrent change of the ride do not affect each other', async () => {
    const rideId = await claimedRide(1);
    const { offers } = await storedRide(rideId);
    await Promise.all([
      applyAction(ctx, rideId, { action: 'accept', offerId: offers[0]?.offerId ?? '' }, 'anyone'),
      settleEvent(rideId, 1, 'a', delivered),
    ]);
    const ride = await storedRide(rideId);
    expect(ride).to.include({ status: 'driver_arriving', seq: 2, settledSeq: 1, unsettled: 1, rev: 2 });
    expect(ride.events[0]?.delivery).to.deep.equal(delivered);
  });

  it('settling stores texts with a dollar sign unchanged', async () => {
    const rideId = await claimedRide(1);
    const odd = { ...delivered, url: 'https://partner.example/$$NOW/$status', reason: '$keyId' };
    await settleEvent(rideId, 1, 'a', odd);
    expect((await storedRide(rideId)).events[0]?.delivery).to.deep.equal(odd);
  });
});
