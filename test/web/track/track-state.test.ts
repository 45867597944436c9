import { expect } from 'chai';
import { legBetween } from '../../../shared/rides/position.ts';
import { type TrackedRide, trackState } from '../../../web/track/track-state.ts';

const minute = 60_000;
const start = Date.parse('2026-01-02T03:00:00Z');
const at = (minutes: number) => new Date(start + minutes * minute);

/** A live ride `minutes` after its creation, as read for the map, including private fields. */
function rideAfter(minutes: number, changes: Partial<TrackedRide>): TrackedRide {
  return {
    _id: 'ride_1',
    trackToken: 'token',
    mode: 'live',
    status: 'bidding',
    statusAt: at(0),
    createdAt: at(0),
    pickup: { lat: 1, lng: 2, address: '7 Elm St' },
    destination: { lat: 1.1, lng: 2.1 },
    distanceKm: 15,
    offers: [{ offerId: 'offer_1', etaMinutes: 4 }],
    statusesAt: [],
    now: at(minutes),
    ...changes,
  } as TrackedRide;
}

const driver = {
  driverId: 'sim_1',
  name: 'Dana van Okoye',
  phone: '+12025550100',
  vehicle: 'Prius',
  plate: 'T-1',
  rating: 4.8,
};
const accepted: Partial<TrackedRide> = {
  status: 'driver_arriving',
  statusAt: at(1),
  statusesAt: [at(1)],
  acceptedOfferId: 'offer_1',
  driver,
};
const ended: Partial<TrackedRide> = {
  ...accepted,
  status: 'completed',
  statusAt: at(30),
  statusesAt: [at(1), at(2), at(3), at(30)],
};

describe('state of a live map', () => {
  it('the state of a bidding ride has both places, the distance, and bidding as the only step', () => {
    expect(trackState(rideAfter(0, {}))).to.deep.equal({
      now: start,
      status: 'bidding',
      testMode: false,
      pickup: { lat: 1, lng: 2, address: '7 Elm St' },
      destination: { lat: 1.1, lng: 2.1 },
      distanceKm: 15,
      steps: [{ status: 'bidding', at: start }],
    });
  });

  it('an empty address is left out', () => {
    const state = trackState(rideAfter(0, { pickup: { lat: 1, lng: 2, address: ' ' } }));
    expect(state?.pickup).to.deep.equal({ lat: 1, lng: 2 });
  });

  it("the state has the driver's first name, and arrivesAt from the accepted offer", () => {
    const state = trackState(rideAfter(2, accepted));
    expect(state?.driver).to.deep.equal({ firstName: 'Dana', vehicle: 'Prius', plate: 'T-1', rating: 4.8 });
    expect(state?.arrivesAt).to.equal(start + 5 * minute);
  });

  it('the state lists each status so far with its time, in order', () => {
    const times = [at(1), at(5), at(6)];
    const state = trackState(rideAfter(7, { ...accepted, status: 'in_progress', statusAt: at(6), statusesAt: times }));
    expect(state?.steps.map(({ status, at }) => [status, (at - start) / minute])).to.deep.equal([
      ['bidding', 0],
      ['driver_arriving', 1],
      ['arrived', 5],
      ['in_progress', 6],
    ]);
    expect(state?.arrivesAt).to.equal(start + 57 * minute, 'the 15 km through streets, at 30 km/h');
  });

  it('the state has no arrivesAt while the car waits at the pickup', () => {
    const state = trackState(
      rideAfter(6, { ...accepted, status: 'arrived', statusAt: at(5), statusesAt: [at(1), at(5)] }),
    );
    expect(state).not.to.have.property('arrivesAt');
  });

  for (const [cancelledBy, statusesAt, endedBy] of [
    ['timeout', [at(10)], 'no_driver'],
    ['partner', [at(10)], 'cancelled'],
    ['timeout', [at(1), at(10)], 'cancelled'],
    ['driver', [at(1), at(10)], 'cancelled'],
  ] as const) {
    it(`endedBy is "${endedBy}" for a cancel by ${cancelledBy} as change ${statusesAt.length}, without a car`, () => {
      const state = trackState(
        rideAfter(11, { status: 'cancelled', statusAt: at(10), statusesAt: [...statusesAt], cancelledBy }),
      );
      expect(state).to.include({ status: 'cancelled', endedBy });
      expect(state?.steps.at(-1)).to.deep.equal({ status: 'cancelled', at: at(10).getTime() });
      expect(state).not.to.have.any.keys('position', 'leg', 'arrivesAt');
    });
  }

  describe('of a completed ride', () => {
    const completed = (changes: Partial<TrackedRide>) => trackState(rideAfter(40, { ...ended, ...changes }));

    it('keeps the last position of a real car, not a later one', () => {
      const lastPosition = { lat: 1.09, lng: 2.08, heading: 45, at: at(29) };
      const reported = { lat: 9, lng: 9, heading: 0, at: at(39) };
      const state = completed({ lastPosition, reported });
      expect(state?.position).to.deep.equal({ ...lastPosition, at: at(29).getTime() });
      expect(state).not.to.have.any.keys('leg', 'arrivesAt');
      expect(completed({ reported })).not.to.have.property('position');
    });

    it('keeps a simulated car at the end of its drive', () => {
      const leg = legBetween({ lat: 1, lng: 2 }, { lat: 1.1, lng: 2 }, at(3), 27 * minute);
      const state = completed({ mode: 'test', leg });
      expect(state?.position).to.deep.equal({ lat: 1.1, lng: 2, heading: 0, at: at(30).getTime() });
      expect(state).not.to.have.property('leg');
    });
  });

  it('the driver of a ride for later arrives at its pickup time, or later if the driver is late', () => {
    const arrival = (pickupAt: Date) => trackState(rideAfter(2, { ...accepted, pickupAt }))?.arrivesAt;
    expect(arrival(at(40))).to.equal(at(40).getTime());
    expect(arrival(at(0))).to.equal(trackState(rideAfter(2, accepted))?.arrivesAt);
  });

  it('a ride that another one replaces ended by "replaced"', () => {
    const cancelled: Partial<TrackedRide> = { status: 'cancelled', statusAt: at(10), statusesAt: [at(1), at(10)] };
    const state = trackState(rideAfter(11, { ...cancelled, cancelledBy: 'driver', nextRideId: 'ride_x' }));
    expect(state).to.include({ endedBy: 'replaced' });
  });

  it('the state is null 24 hours after the end of the ride', () => {
    const atMinute = (minutes: number) => trackState(rideAfter(minutes, ended));
    expect(atMinute(30 + 24 * 60 - 1)).to.include({ status: 'completed' });
    expect(atMinute(30 + 24 * 60)).to.equal(null);
  });
});
