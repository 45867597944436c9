import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { answerOf } from '../../shared/base/operation.ts';
import { shownNotes } from '../../shared/rides/driver-notes.ts';
import { positionAt } from '../../shared/rides/position.ts';
import { driverMessages, heading, lat, lng, movingStatus, unixMs } from '../../shared/rides/public-schemas.ts';
import { lookUpReported, withReportedPosition } from '../../shared/rides/read-ride.ts';
import { askIfOffRoute } from '../../shared/rides/reroute.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { get } from '../http/route.ts';
import { authenticateForRide } from './authenticate.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { exampleRide, optionalFields, presentFields, type ReadRide, readFields, rideFields } from './ride-fields.ts';

const answer = objectSchema(
  {
    ...rideFields,
    pin: {
      type: 'string',
      pattern: '^[0-9]{4}$',
      description: 'The PIN without which the driver cannot start the trip. Present if you asked for one.',
    },
    messages: driverMessages('Your messages to the driver, in order. Absent without any.'),
    liveLocation: objectSchema(
      {
        lat,
        lng,
        heading,
        status: movingStatus,
        at: unixMs('The time of this position'),
      },
      { description: 'Position of the car. Present in `driver_arriving`, `arrived` and `in_progress`.' },
    ),
  },
  { title: 'Ride', optional: [...optionalFields, 'pin', 'messages', 'liveLocation'] },
);

type ShownRide = ReadRide & Pick<Ride, 'pinCode' | 'driverNotes'> & { now: Date };

/** Contract, section 4.2. */
export const retrieveRide: PartnerOperation = {
  id: 'retrieveRide',
  method: 'GET',
  path: '/rides/:rideId',
  summary: 'Retrieve a ride',
  description: 'Shows the current state of a ride. You may poll it.',
  tag: 'rides',
  answer: answerOf(200, 'The ride.', answer, {
    ...exampleRide,
    liveLocation: { lat: 40.7531, lng: -73.9812, heading: 326.4, status: 'driver_arriving', at: 1_795_269_606_402 },
    testMode: true,
  }),
  errors: ['ride_not_found'],
  route({ service }) {
    // Reads MongoDB's clock too, because the position of a simulated car depends on the time.
    const projection = { ...readFields, pinCode: 1, driverNotes: 1, now: '$$NOW', reported: { $first: '$reported' } };
    const findRide = authenticateForRide<ShownRide>(service, projection, lookUpReported);
    return get({
      authenticate: async (ctx) => withReportedPosition(await findRide(ctx)),
      present: (ride): Shape<typeof answer> => {
        const now = ride.now.getTime();
        const liveLocation = positionAt(ride, now);
        void askIfOffRoute(service, ride);
        return {
          ...presentFields(service.config, ride, now),
          ...(ride.pinCode && { pin: ride.pinCode }),
          ...shownNotes(ride),
          ...(liveLocation && { liveLocation }),
        };
      },
    });
  },
};
