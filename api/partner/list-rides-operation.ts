import Joi from 'joi';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { answerOf } from '../../shared/base/operation.ts';
import { fields } from '../../shared/rides/fields.ts';
import { listKeyRides } from '../../shared/rides/list-rides.ts';
import { status } from '../../shared/rides/public-schemas.ts';
import { withReportedPosition } from '../../shared/rides/read-ride.ts';
import type { RideStatus } from '../../shared/rides/ride-types.ts';
import { inSteps } from '../http/route.ts';
import { queryOf } from '../http/validate.ts';
import { choice, reference, unixTime } from '../rides/field-types.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { exampleRideId, limit, nextCursor, pageCursor } from './request-fields.ts';
import { exampleRide, optionalFields, presentFields, type ReadRide, readFields, rideFields } from './ride-fields.ts';

interface ListQuery {
  status?: RideStatus;
  createdAfter?: number;
  createdBefore?: number;
  reference?: string;
  limit: number;
  cursor?: string;
}

const time = unixTime.empty('');

const query = Joi.object<ListQuery>({
  status: choice(status).empty('').example('completed').description('Only rides with this status.'),
  createdAfter: time
    .example(1_795_269_600_000)
    .description('Only rides that were created at this time or later, as Unix time in milliseconds.'),
  createdBefore: time
    .example(1_795_356_000_000)
    .description('Only rides that were created before this time, as Unix time in milliseconds.'),
  reference: reference.description('Only rides with exactly this reference.'),
  limit: limit.default(20).description('The maximum number of rides in a page.'),
  cursor: pageCursor(/^ride_[0-9A-Za-z]{24}$/),
});

const listedRide = objectSchema(rideFields, {
  title: 'ListedRide',
  description: 'A ride as the list shows it.',
  optional: optionalFields,
});

const answer = objectSchema(
  {
    rides: { type: 'array', items: listedRide, description: 'The newest first, without live locations.' },
    nextCursor,
  },
  { title: 'RideList' },
);

/** Contract, section 10.2. */
export const listRides: PartnerOperation = {
  id: 'listRides',
  method: 'GET',
  path: '/rides',
  summary: 'List your rides',
  description:
    'Lists the rides of this key, the newest first. Empty parameters count as absent, and unknown ones are ignored. To read all pages, see [Find your rides](https://rides.example/docs/rides#pages).',
  tag: 'rides',
  query,
  answer: answerOf(200, 'A page of rides.', answer, {
    rides: [{ ...exampleRide, metadata: fields.metadata.schema.examples[0], testMode: true }],
    nextCursor: exampleRideId,
  }),
  errors: [],
  route: ({ service, findCaller }) =>
    inSteps(listRides, {
      authenticate: findCaller,
      validate: (ctx, { keyId }) => ({ keyId, ...queryOf(query, ctx) }),
      act: async ({ keyId, limit, cursor: after, createdAfter: from, createdBefore: to, ...filter }) => {
        const options = { limit, projection: readFields };
        const found = await listKeyRides<ReadRide>(keyId, { ...filter, from, to, after }, options);
        return { ...found, rides: await Promise.all(found.rides.map(withReportedPosition)) };
      },
      present: ({ rides, hasOlder }): Shape<typeof answer> => ({
        rides: rides.map((ride) => presentFields(service.config, ride, service.now())),
        nextCursor: (hasOlder && rides.at(-1)?._id) || null,
      }),
    }),
};
