import { expect } from 'chai';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { askHelp, rateRide } from '../../../shared/rides/passenger-actions.ts';
import type { Delivery, Ride } from '../../../shared/rides/ride-types.ts';
import { historyOf, type ShownAttempt } from '../../../shared/webhooks/ride-history.ts';
import { chosenEntry, isWaiting, missedEvents, titleOf } from '../../../web/dashboard/timeline.tsx';
import { attemptRecord } from '../../support/attempts.ts';
import { endedAgo } from '../../support/rated-rides.ts';
import { newDriver, rideIn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';

const at = new Date('2026-01-02T03:04:05.678Z');
const now = at.getTime() + 60_000;
const recorded = (outcome: Delivery['outcome']): Delivery => ({ outcome, durationMs: 5, at });

describe("a ride's timeline", () => {
  const ctx = useTestContext();

  /** A ride in a status. Its first events have deliveries with these outcomes. */
  async function rideWith(outcomes: Delivery['outcome'][], status: Ride['status'] = 'completed'): Promise<Ride> {
    const ride = await storedRide((await rideIn(ctx, status)).rideId);
    const events = ride.events.map((event, index) => {
      const outcome = outcomes[index];
      return outcome ? { ...event, delivery: recorded(outcome) } : event;
    });
    return { ...ride, events, settledSeq: outcomes.length };
  }
  const attemptOn = (seq: number, changes: Partial<ShownAttempt> = {}) => attemptRecord({ seq, at, ...changes });

  it('the timeline lists the creation, every offer, withdrawal and status change in order', async () => {
    const { rideId, offers } = await rideIn(ctx, 'bidding', { offers: [{ driver: newDriver() }, {}] });
    const [first, second] = offers;
    await applyAction(ctx, rideId, { action: 'withdrawOffer', offerId: first?.offerId ?? '' }, 'anyone');
    const origin = { by: 'partner', requestId: 'r-1' } as const;
    await applyAction(ctx, rideId, { action: 'accept', offerId: second?.offerId ?? '' }, 'anyone', origin);
    await applyAction(ctx, rideId, { action: 'cancel', by: 'timeout' }, 'anyone', { by: 'timeout' });
    const entries = historyOf(await storedRide(rideId), [], now);
    expect(entries.map((entry) => [titleOf(entry), entry.by, entry.requestId])).to.deep.equal([
      ['Ride requested', undefined, undefined],
      ['Offer received', 'driver', undefined],
      ['Offer received', 'driver', undefined],
      ['Offer withdrawn', 'driver', undefined],
      ['Offer accepted', 'partner', 'r-1'],
      ['Ride cancelled', 'timeout', undefined],
    ]);
    expect(entries[1]?.offer?.offerId).to.equal(first?.offerId);
    expect(entries[3]?.offer?.offerId).to.equal(first?.offerId);
  });

  it('the timeline names no request of a driver, who may choose its id', async () => {
    const { rideId } = await rideIn(ctx, 'driver_arriving');
    await applyAction(ctx, rideId, { action: 'arrive' }, 'anyone', { by: 'driver', requestId: 'phone-of-dana' });
    const entry = historyOf(await storedRide(rideId), [], now).at(-1);
    expect([entry?.by, entry?.requestId]).to.deep.equal(['driver', undefined]);
  });

  it('the timeline lists the last fare raise and every change at their times', async () => {
    const { rideId } = await rideIn(ctx, 'bidding');
    await applyAction(ctx, rideId, { action: 'raiseFare', fare: 27 }, 'anyone');
    await applyAction(ctx, rideId, { action: 'raiseFare', fare: 28 }, 'anyone');
    await applyAction(ctx, rideId, { action: 'change', terms: { notes: 'x' }, unfit: new Set() }, 'anyone');
    await applyAction(ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
    const titles = historyOf(await storedRide(rideId), [], now).map(titleOf);
    expect(titles).to.deep.equal(['Ride requested', 'Offer received', 'Fare raised', 'Ride changed', 'Ride cancelled']);
  });

  it('the timeline lists messages to the driver, requests for help and the rating', async () => {
    const { rideId } = await rideIn(ctx, 'in_progress');
    await applyAction(ctx, rideId, { action: 'tellDriver', text: 'Side entrance' }, 'anyone');
    await askHelp(ctx, await storedRide(rideId));
    await applyAction(ctx, rideId, { action: 'complete' }, 'anyone');
    await endedAgo(rideId, 61);
    await rateRide(ctx, await storedRide(rideId), { stars: 4 });
    const titles = historyOf(await storedRide(rideId), [], now).map(titleOf);
    expect(titles.slice(-3)).to.deep.equal(['Message to the driver', 'Asked for help', 'Rated']);
  });

  it('the timeline lists every attempt of an event, even if only its outcome is stored', async () => {
    const ride = await rideWith(['failed', 'delivered']);
    const own = attemptOn(1, { outcome: 'failed' });
    const lost = attemptOn(1, { outcome: 'failed', at: new Date(at.getTime() - 1_000) });
    const redelivery = attemptOn(1, { kind: 'redelivery', at: new Date(at.getTime() + 1_000) });
    const entries = historyOf(ride, [lost, own, redelivery], now);
    const shown = entries.slice(1, 3).map(({ deliveries }) => deliveries.map(({ id, attempt }) => [id, attempt?._id]));
    expect(shown).to.deep.equal([
      [
        [`attempt-${lost._id}`, lost._id],
        ['delivery-1', own._id],
        [`attempt-${redelivery._id}`, redelivery._id],
      ],
      [['delivery-2', undefined]],
    ]);
    for (const id of ['delivery-1', `attempt-${own._id}`]) {
      expect(chosenEntry(entries, id).delivery?.attempt?._id).to.equal(own._id);
    }
  });

  it('isWaiting is true while an attempt is made, and then briefly until its record is stored', async () => {
    const ride = await rideWith(['delivered', 'delivered', 'delivered', 'delivered']);
    expect(isWaiting(historyOf(ride, [], now))).to.equal(true);
    const all = await rideWith(['delivered', 'delivered', 'delivered', 'delivered', 'delivered']);
    expect(isWaiting(historyOf(all, [], now))).to.equal(false);
    expect(isWaiting(historyOf(all, [], at.getTime() + 1_000))).to.equal(true);
    const kept = [1, 2, 3, 4, 5].map((seq) => attemptOn(seq));
    expect(isWaiting(historyOf(all, kept, at.getTime() + 1_000))).to.equal(false);
  });

  it('the timeline marks the event that is being sent, and the events that wait behind it', async () => {
    const entries = historyOf(await rideWith(['delivered']), [], now);
    const waiting = entries.slice(2).map(({ deliveries: [first] }) => [first?.outcome, first?.own]);
    expect(waiting).to.deep.equal([
      ['waiting', 'sending'],
      ['waiting', 'behind'],
      ['waiting', 'behind'],
      ['waiting', 'behind'],
    ]);
  });

  it('the timeline selects the entry in the URL, else the last attempt of a missed event, else the latest entry', async () => {
    const failing = historyOf(await rideWith(['delivered', 'failed', 'timeout', 'delivered', 'no_url']), [], now);
    expect(chosenEntry(failing, '').delivery?.id).to.equal('delivery-3');
    expect(chosenEntry(failing, 'unknown').delivery?.id).to.equal('delivery-3');
    expect(chosenEntry(failing, 'event-1')).to.not.have.property('delivery');
    expect(chosenEntry(failing, 'delivery-4').delivery?.outcome).to.equal('delivered');
    const arrived = attemptOn(1, { kind: 'redelivery' });
    const fine = historyOf(await rideWith(['failed', 'delivered']), [arrived], now);
    expect(titleOf(chosenEntry(fine, '').entry)).to.equal('Trip completed');
  });

  it('an event counts as missed until one of its attempts is delivered', async () => {
    const ride = await rideWith(['failed', 'blocked', 'no_url']);
    const arrived = attemptOn(1, { kind: 'redelivery', outcome: 'delivered' });
    expect(missedEvents(historyOf(ride, [arrived], now)).map(({ id }) => id)).to.deep.equal(['event-2']);
  });

  it('each URL counts: an event is missed if it arrived only at a further endpoint, or everywhere but there', async () => {
    const ride = await rideWith(['failed', 'delivered', 'delivered', 'delivered', 'delivered']);
    const copyOf = (seq: number, outcome: 'delivered' | 'failed') =>
      attemptOn(seq, { outcome, endpointId: 'endpoint_1' });
    const entries = historyOf(ride, [copyOf(1, 'delivered'), copyOf(2, 'failed')], now);
    expect(missedEvents(entries).map(({ id }) => id)).to.deep.equal(['event-1', 'event-2']);
    expect(chosenEntry(entries, '').delivery?.attempt?.endpointId).to.equal('endpoint_1');
  });
});
