import { expect } from 'chai';
import { applyAction } from '../../../shared/rides/change-ride.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Delivery } from '../../../shared/rides/ride-types.ts';
import { loggedUrl } from '../../../workers/webhooks/attempt.ts';
import { claimEvent } from '../../../workers/webhooks/claim-event.ts';
import { settleEvent, settleLast } from '../../../workers/webhooks/settle-event.ts';
import { newKey } from '../../support/deliveries.ts';
import { newRide, rideWithEvents } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';

describe('settling an event', () => {
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

  it('records the outcome on its event, moves on and lifts the claim, in one write', async () => {
    const rideId = await claimedRide(3);
    const { keyId } = await storedRide(rideId);
    expect(await settleEvent(rideId, 1, 'a', delivered)).to.deep.equal({ _id: rideId, keyId, seq: 3, settledSeq: 1 });
    const ride = await storedRide(rideId);
    expect(ride).to.include({ settledSeq: 1, unsettled: 2, seq: 3 }).and.not.to.have.property('claim');
    expect(ride.events.map(({ delivery }) => delivery)).to.deep.equal([delivered, undefined, undefined]);
  });

  it('notes on the ride when an attempt did not deliver its event, whatever the outcome', async () => {
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

  it('notes since when the next event is the oldest unsettled one', async () => {
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

  it('happens once when two workers race, with either token', async () => {
    const rideId = await claimedRide(2);
    const answers = await Promise.all(
      ['a', 'a', 'b', 'a', 'b'].map((token) => settleEvent(rideId, 1, token, delivered)),
    );
    expect(answers.filter((answer) => answer !== null)).to.have.length(1);
    expect(await storedRide(rideId)).to.include({ settledSeq: 1, unsettled: 1 });
  });

  it('is refused to a token that does not hold the claim', async () => {
    const rideId = await claimedRide(1);
    const before = await storedRide(rideId);
    expect(await settleEvent(rideId, 1, 'b', delivered)).to.equal(null);
    expect(await storedRide(rideId)).to.deep.equal(before);
  });

  it('is refused to the old token once another run has taken the claim over', async () => {
    const rideId = await claimedRide(1);
    await rides.updateOne({ _id: rideId }, { $set: { 'claim.until': new Date(0) } });
    await claimEvent(rideId, 1, 'b');
    expect(await settleEvent(rideId, 1, 'a', delivered)).to.equal(null);
    expect(await settleEvent(rideId, 1, 'b', { ...delivered, outcome: 'failed' })).not.to.equal(null);
    expect((await storedRide(rideId)).events[0]?.delivery?.outcome).to.equal('failed');
  });

  it('is granted to a run whose claim has lapsed but was not taken, and to one whose claim a restart forgot', async () => {
    const lapsed = await claimedRide(1);
    await rides.updateOne({ _id: lapsed }, { $set: { 'claim.until': new Date(0) } });
    expect(await settleEvent(lapsed, 1, 'a', delivered)).to.include({ settledSeq: 1 });
    const forgotten = await claimedRide(1);
    await rides.updateOne({ _id: forgotten }, { $unset: { claim: '' } });
    expect(await settleEvent(forgotten, 1, 'a', delivered)).to.include({ settledSeq: 1 });
  });

  it('never jumps over an event, nor settles one twice', async () => {
    const rideId = await claimedRide(3);
    expect(await settleEvent(rideId, 2, 'a', delivered)).to.equal(null);
    await settleEvent(rideId, 1, 'a', delivered);
    expect(await settleEvent(rideId, 1, 'a', { ...delivered, outcome: 'timeout' })).to.equal(null);
    expect(await storedRide(rideId)).to.include({ settledSeq: 1, unsettled: 2 });
    expect((await storedRide(rideId)).events[0]?.delivery?.outcome).to.equal('delivered');
  });

  it('is refused for an event that the ride does not have', async () => {
    const rideId = await newRide(ctx);
    const before = await storedRide(rideId);
    expect(await settleEvent(rideId, 1, 'a', delivered)).to.equal(null);
    expect(await settleLast(rideId, 1, 'a', delivered)).to.equal(false);
    expect(await storedRide(rideId)).to.deep.equal(before);
  });

  it('without reading the ride, is granted only for its last event', async () => {
    const [two, one] = [await claimedRide(2), await claimedRide(1)];
    const before = await storedRide(two);
    expect(await settleLast(two, 1, 'a', delivered)).to.equal(false);
    expect(await storedRide(two)).to.deep.equal(before);
    expect(await settleLast(one, 1, 'b', delivered)).to.equal(false);
    expect(await settleLast(one, 1, 'a', delivered)).to.equal(true);
    expect(await storedRide(one)).to.include({ settledSeq: 1, unsettled: 0 });
  });

  it('does not touch what changes the ride meanwhile, nor is touched by it', async () => {
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

  it('keeps texts with a dollar sign as they are', async () => {
    const rideId = await claimedRide(1);
    const odd = { ...delivered, url: 'https://partner.example/$$NOW/$status', reason: '$keyId' };
    await settleEvent(rideId, 1, 'a', odd);
    expect((await storedRide(rideId)).events[0]?.delivery).to.deep.equal(odd);
  });

  it('logs where an attempt went without query and fragment', () => {
    expect(loggedUrl('https://partner.example:8443/hook/1?token=secret#part')).to.equal(
      'https://partner.example:8443/hook/1',
    );
  });
});
