import { expect } from 'chai';
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
});
