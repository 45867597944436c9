import { expect } from 'chai';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { changeRide } from '../../../shared/rides/change-ride.ts';
import { readRide } from '../../../shared/rides/read-ride.ts';
import { rideIn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';

describe('readRide', () => {
  const ctx = useTestContext();

  it("readRide returns MongoDB's time, and all fields of a ride except its events", async () => {
    const { rideId } = await rideIn(ctx, 'in_progress');
    const read = await readRide({ rideId, owner: 'anyone' });
    const { events, ...state } = await storedRide(rideId);
    expect(events).to.have.length(4);
    expect(read?.ride).to.deep.equal(state);
    expect(read?.now).to.be.at.least(state.lastEventAt as Date);
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
});
