import { expect } from 'chai';
import fc from 'fast-check';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import type { Command } from '../../../shared/rides/decide.ts';
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
