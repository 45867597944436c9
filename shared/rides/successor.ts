import { type FieldName, fields } from './fields.ts';
import type { CancelledBy, RideRequest, RideState, TestScenario } from './ride-types.ts';

/** A ride has at most this many successors in a row. */
const maxRebids = 3;

/** True if the cancellation of this ride by this party gets a successor. Pure. */
export const getsSuccessor = (
  { onDriverCancel, driver, rebids = 0 }: Pick<RideState, 'onDriverCancel' | 'driver' | 'rebids'>,
  by: CancelledBy,
): boolean => by === 'driver' && driver !== undefined && onDriverCancel === 'rebid' && rebids < maxRebids;

/** The compiler checks that no field is missing. */
const requiredFields = {
  pickup: 1,
  destination: 1,
  fare: 1,
  carType: 1,
  rideType: 1,
  passengerCount: 1,
  distanceKm: 1,
} satisfies Record<Exclude<keyof RideRequest, FieldName>, 1>;

/** The request of a ride, with its present fare. Pure. */
export const requestOf = (ride: RideState): RideRequest =>
  Object.fromEntries(
    Object.entries(ride).filter(([field]) => field in requiredFields || field in fields),
  ) as unknown as RideRequest;

/** After `driver_cancels`, a test successor runs the default scenario, so that the second try succeeds. Pure. */
export const scenarioOfSuccessor = (scenario: TestScenario | undefined): TestScenario | undefined =>
  scenario === 'driver_cancels' ? 'default' : scenario;
