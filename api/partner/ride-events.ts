import Joi from 'joi';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { rideId } from '../../shared/rides/public-schemas.ts';
import { bringNamedSuccessors } from '../../shared/rides/rebid.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { resendsOfRide } from '../../shared/webhooks/attempts.ts';
import { inSteps } from '../http/route.ts';
import { queryOf } from '../http/validate.ts';
import { authenticateForRide } from './authenticate.ts';
import {
  attemptIdSchema,
  exampleEvent,
  feedEvent,
  presentEvent,
  presentResend,
  resendSchema,
  waitFor,
  waitSeconds,
} from './event-fields.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { exampleRideId } from './request-fields.ts';

const query = Joi.object<{ after: number; waitSeconds: number }>({
  after: Joi.number().integer().min(0).empty('').default(0).description('Only events with a higher `seq`.'),
  waitSeconds,
});

const answer = objectSchema(
  {
    rideId,
    events: { type: 'array', items: feedEvent, description: 'Ordered by `seq`.' },
    resends: {
      type: 'array',
      items: resendSchema,
      description: 'The resends of all events of the ride, in the order in which they were requested.',
    },
  },
  { title: 'RideEvents' },
);

const readFields = { keyId: 1, accountId: 1, events: 1 } as const;

const exampleResend: Shape<typeof resendSchema> = {
  attemptId: attemptIdSchema.examples[0],
  seq: 2,
  requestedAt: 1_795_270_205_152,
  outcome: 'delivered',
  httpStatus: 200,
};

/** Contract, section 10.3. */
export const listRideEvents: PartnerOperation = {
  id: 'listRideEvents',
  method: 'GET',
  path: '/rides/:rideId/events',
  summary: 'List the events of a ride',
  description:
    'Lists the events of a ride, ordered by `seq`. The same events are sent to your webhook URL; reading does not remove them.',
  tag: 'feed',
  query,
  answer: {
    status: 200,
    description: 'The events; there may be none.',
    schema: answer,
    example: { rideId: exampleRideId, events: [exampleEvent], resends: [exampleResend] } satisfies Shape<typeof answer>,
  },
  errors: ['ride_not_found', 'too_many_waiting'],
  route({ service, polls }) {
    const findRide = authenticateForRide<Pick<Ride, '_id' | keyof typeof readFields>>(service, readFields);
    return inSteps(listRideEvents, {
      authenticate: findRide,
      validate: (ctx, ride) => ({ ctx, ride, ...queryOf(query, ctx) }),
      async act({ ctx, ride: { _id: rideId, keyId, accountId, events }, after, waitSeconds }) {
        const eventsAfter = (all: Ride['events']) => all.filter(({ seq }) => seq > after);
        const newEvents = await waitFor(
          ctx,
          waitSeconds,
          eventsAfter(events),
          ({ length }) => length > 0,
          (ms) => polls.wait(ctx, { keyId, rideId, afterSeq: after }, ms),
          async () => eventsAfter((await findRide(ctx)).events),
        );
        await bringNamedSuccessors(
          service,
          newEvents.map((event) => ({ rideId, event })),
        );
        return { rideId, events: newEvents, resends: await resendsOfRide(rideId, { accountId }) };
      },
      present: ({ rideId, events, resends }): Shape<typeof answer> => ({
        rideId,
        events: events.map((event) => presentEvent(rideId, event)),
        resends: resends.map(presentResend),
      }),
    });
  },
};
