import { expect } from 'chai';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import type { Command } from '../../../shared/rides/decide.ts';
import { type RideStatus, rideStatuses } from '../../../shared/rides/ride-types.ts';
import { newDriver, rideIn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { outcomeOf, storedRide } from '../../support/stored-rides.ts';

type Action = Command['action'];

// The actions that each status allows, copied from the contract (section 3) and not from the table in the code.
const allowed: Record<RideStatus, Partial<Record<Action, [to: RideStatus, event: string | null]>>> = {
  bidding: {
    offer: ['bidding', 'offer.received'],
    withdrawOffer: ['bidding', null],
    raiseFare: ['bidding', null],
    change: ['bidding', null],
    accept: ['driver_arriving', 'driver_arriving'],
    cancel: ['cancelled', 'cancelled'],
  },
  driver_arriving: {
    tellDriver: ['driver_arriving', null],
    change: ['driver_arriving', null],
    arrive: ['arrived', 'arrived'],
    cancel: ['cancelled', 'cancelled'],
  },
  arrived: {
    tellDriver: ['arrived', null],
    change: ['arrived', null],
    start: ['in_progress', 'in_progress'],
    cancel: ['cancelled', 'cancelled'],
  },
  in_progress: {
    tellDriver: ['in_progress', null],
    change: ['in_progress', null],
    complete: ['completed', 'completed'],
    cancel: ['cancelled', 'cancelled'],
  },
  completed: {},
  cancelled: {},
};

const refusals: Record<Action, string> = {
  open: 'illegal_step',
  offer: 'ride_not_bidding',
  withdrawOffer: 'ride_not_bidding',
  raiseFare: 'ride_not_bidding',
  change: 'ride_ended',
  tellDriver: 'ride_ended',
  accept: 'ride_not_bidding',
  arrive: 'illegal_step',
  start: 'illegal_step',
  complete: 'illegal_step',
  cancel: 'ride_ended',
};

const actions = Object.keys(refusals) as Action[];

const commandOf = (action: Action, offerId: string) =>
  ({
    action,
    offerId,
    by: 'driver',
    driver: newDriver(),
    price: 20,
    etaMinutes: 5,
    fare: 90,
    terms: { notes: 'x' },
    unfit: new Set(),
    text: 'Side entrance',
  }) as Command;

// The rides of these tests are open from their creation; opening.test.ts covers rides for later.
// The tests use an offer that was not accepted; other tests cover repeated accepts.
describe('every action in every status', () => {
  const ctx = useTestContext();

  for (const status of rideStatuses) {
    for (const [action, [to, event]] of Object.entries(allowed[status]) as [Action, [RideStatus, string | null]][]) {
      it(`${action} moves a ride from ${status} to ${to} and sends ${event ?? 'no event'}`, async () => {
        const { rideId, offers } = await rideIn(ctx, status, { offers: [{}, {}] });
        const before = await storedRide(rideId);
        const answered = await applyAction(ctx, rideId, commandOf(action, offers[1]?.offerId ?? ''), 'anyone');
        const after = await storedRide(rideId);
        expect([answered.status, after.status, after.rev]).to.deep.equal([to, to, before.rev + 1]);
        const sent = after.events.slice(before.events.length).map(({ body }) => JSON.parse(body));
        expect(sent.map(({ event: name, status }) => status ?? name)).to.deep.equal(event ? [event] : []);
        expect(after.seq - before.seq).to.equal(event ? 1 : 0);
        expect(after.unsettled - before.unsettled).to.equal(event ? 1 : 0);
      });
    }

    it(`a ride that is ${status} refuses every other action, each with its code, and nothing is written`, async () => {
      const { rideId, offers } = await rideIn(ctx, status, { offers: [{}, {}] });
      const before = await storedRide(rideId);
      for (const action of actions.filter((each) => !allowed[status][each])) {
        const refusal = action === 'tellDriver' && status === 'bidding' ? 'no_driver' : refusals[action];
        const outcome = outcomeOf(applyAction(ctx, rideId, commandOf(action, offers[1]?.offerId ?? ''), 'anyone'));
        expect(await outcome, action).to.equal(refusal);
        expect(await storedRide(rideId), action).to.deep.equal(before);
      }
    });
  }
});
