import { expect } from 'chai';
import fc from 'fast-check';
import { AppError } from '../../../shared/base/errors.ts';
import { applyAction } from '../../../shared/rides/change-ride.ts';
import { type Change, type Command, decide } from '../../../shared/rides/decide.ts';
import type { Driver, Ride, RideState } from '../../../shared/rides/ride-types.ts';
import { LifecycleModel, type Step, someSteps } from '../../support/lifecycle-model.ts';
import { newDriver, newRide } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { endBidding, outcomeOf, statusesSent, storedRide } from '../../support/stored-rides.ts';

/** New drivers for each ride, because a driver can be on only one ride at a time. */
const newDrivers = () => [0, 1, 2, 3].map(() => newDriver());

function commandOf(
  step: Exclude<Step, { do: 'endBidding' }>,
  offers: RideState['offers'],
  drivers: readonly Driver[],
): Command {
  switch (step.do) {
    case 'offer':
      return { action: 'offer', driver: drivers[step.driver] ?? newDriver(), price: step.price, etaMinutes: 5 };
    case 'withdrawOffer':
    case 'accept':
      return { action: step.do, offerId: offers[step.offer]?.offerId ?? 'offer_of_nobody' };
    case 'cancel':
      return { action: 'cancel', by: step.by };
    default:
      return { action: step.do };
  }
}

describe('decide', () => {
  const timing = {
    pickupTimeoutMs: 7_200_000,
    tripTimeoutMs: 43_200_000,
    simulationSpeed: 1,
    biddingTimeoutMs: 600_000,
    scheduleLeadMs: 1_800_000,
  };
  const start = Date.parse('2026-01-01T12:00:00Z');

  const biddingRide = (waits: boolean): RideState =>
    ({
      _id: 'ride_of_the_model',
      mode: 'live',
      status: 'bidding',
      biddingEndsAt: new Date(start + 600_000),
      offers: [],
      timers: [{ name: waits ? 'open' : 'expire', dueAt: new Date(start + 600_000) }],
      ...(waits && { biddingOpensAt: new Date(start) }),
    }) as unknown as RideState;

  /** Decides a command, and applies the change as the write in MongoDB would. */
  function perform(ride: RideState, command: Command, at: Date): { outcome: string; ride: RideState; change?: Change } {
    const before = structuredClone(ride);
    try {
      const change = decide(ride, command, { at, now: at }, timing);
      expect(ride).to.deep.equal(before);
      if (!change) return { outcome: 'nothing', ride };
      const offers = [...(change.set.offers ?? ride.offers), ...(change.newOffer ? [change.newOffer] : [])];
      return { outcome: 'done', ride: { ...ride, ...change.set, offers }, change };
    } catch (error) {
      if (error instanceof AppError) return { outcome: error.code, ride };
      throw error;
    }
  }

  it('decide agrees with a simple model of the contract for any sequence of actions, and never mutates its input', () => {
    fc.assert(
      fc.property(someSteps, fc.boolean(), (steps, waits) => {
        const model = new LifecycleModel({ waits });
        const drivers = newDrivers();
        let ride = biddingRide(waits);
        const sent: string[] = [];
        let nowMs = start;
        for (const step of steps) {
          const expected = model.take(step);
          nowMs += 1_000;
          if (step.do === 'endBidding') {
            ride = { ...ride, biddingEndsAt: new Date(nowMs) };
            continue;
          }
          const next = perform(ride, commandOf(step, ride.offers, drivers), new Date(nowMs));
          ride = next.ride;
          expect(next.outcome, JSON.stringify(step)).to.equal(expected);
          if (next.change?.event) sent.push(next.change.event === 'ride.status' ? ride.status : next.change.event);
        }
        expect(ride.status).to.equal(model.status);
        expect(sent).to.deep.equal(model.sent);
        expect(ride.cancelledBy ?? null).to.equal(model.cancelledBy);
        expect(ride.offers.map((offer) => !offer.withdrawnAt)).to.deep.equal(model.offers.map(({ isLive }) => isLive));
        const accepted = model.accepted === null ? undefined : ride.offers[model.accepted];
        expect(ride.acceptedOfferId).to.equal(accepted?.offerId);
        expect(ride.agreedPrice).to.equal(accepted?.price);
        expect(ride.driver).to.deep.equal(accepted?.driver);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('rides in MongoDB', () => {
  const ctx = useTestContext();

  async function applyStep(rideId: string, step: Step, drivers: readonly Driver[]): Promise<string> {
    if (step.do === 'endBidding') {
      await endBidding(rideId);
      return 'nothing';
    }
    const { offers, rev } = await storedRide(rideId);
    const outcome = await outcomeOf(applyAction(ctx, rideId, commandOf(step, offers, drivers), 'anyone'));
    return outcome === 'done' && (await storedRide(rideId)).rev === rev ? 'nothing' : outcome;
  }

  function expectInvariants(ride: Ride, model: LifecycleModel): void {
    expect(ride.status).to.equal(model.status);
    expect(ride.rev).to.equal(model.changes);
    expect(statusesSent(ride)).to.deep.equal(model.sent);
    expect(ride.events.map(({ seq }) => seq)).to.deep.equal(model.sent.map((_, index) => index + 1));
    expect(ride).to.include({ seq: model.sent.length, unsettled: model.sent.length, settledSeq: 0 });
    const times = ride.events.map(({ at }) => at.getTime());
    expect(times).to.deep.equal([...new Set(times)].sort((a, b) => a - b));
    const bodies = ride.events.map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ at }) => at)).to.deep.equal(times);
    expect(bodies.flatMap(({ offersCount }) => offersCount ?? [])).to.deep.equal(model.offers.map((_, i) => i + 1));
    const isAccepted = ({ offerId }: { offerId: string }) => offerId === ride.acceptedOfferId;
    expect(ride.offers.filter(isAccepted).length).to.equal(model.accepted === null ? 0 : 1);
    const due = ride.timers.map(({ dueAt }) => dueAt.getTime());
    expect(ride.nextDueAt?.getTime()).to.equal(due.length > 0 ? Math.min(...due) : undefined);
    expect('nextDueAt' in ride).to.equal(due.length > 0);
  }

  it('stored rides agree with a simple model of the contract for any sequence of actions: status, event numbers, times, offers, timers', async () => {
    await fc.assert(
      fc.asyncProperty(someSteps, async (steps) => {
        const rideId = await newRide(ctx);
        const [model, drivers] = [new LifecycleModel(), newDrivers()];
        for (const step of steps)
          expect(await applyStep(rideId, step, drivers), JSON.stringify(step)).to.equal(model.take(step));
        expectInvariants(await storedRide(rideId), model);
      }),
      { numRuns: 60 },
    );
  });
});
