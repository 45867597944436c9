import Joi from 'joi';
import { AppError } from '../../shared/base/errors.ts';
import { eventId } from '../../shared/base/ids.ts';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { answerOf } from '../../shared/base/operation.ts';
import { eventId as eventIdSchema, rideId, sequence } from '../../shared/rides/public-schemas.ts';
import { bringNamedSuccessors } from '../../shared/rides/rebid.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { resendsOfRide } from '../../shared/webhooks/attempts.ts';
import { redeliver } from '../../shared/webhooks/redeliver.ts';
import { inSteps, paramOf } from '../http/route.ts';
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
import { exampleRideId, success } from './request-fields.ts';

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
  answer: answerOf(200, 'The events; there may be none.', answer, {
    rideId: exampleRideId,
    events: [exampleEvent],
    resends: [exampleResend],
  }),
  errors: ['ride_not_found', 'too_many_waiting'],
  route({ service, polls }) {
    const findRide = authenticateForRide<Pick<Ride, '_id' | keyof typeof readFields>>(service, readFields);
    return inSteps(listRideEvents, {
      authenticate: findRide,
      validate: (ctx, ride) => ({ ride, ...queryOf(query, ctx) }),
      async act({ ride: { _id: rideId, keyId, accountId, events }, after, waitSeconds }, ctx) {
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

const eventResent = objectSchema(
  { success, rideId, eventId: eventIdSchema, sequence, attemptId: attemptIdSchema },
  { title: 'EventResent' },
);

const resentFields = { keyId: 1, accountId: 1 } as const;

/** Contract, section 10.13. */
export const resendEvent: PartnerOperation = {
  id: 'resendEvent',
  method: 'POST',
  path: '/rides/:rideId/events/:sequence/resend',
  summary: 'Resend an event',
  description:
    'Sends an event to your webhook URL again, with the same body and id, a new signature and `X-Service-Redelivery: true`. At most 10 events of a key are resent in a second; further ones wait. While a resend of the event waits or is being made, another request for it changes nothing.\n\nThe answer does not wait for the delivery: the `resends` of [the ride’s events](https://rides.example/docs/reference/list-ride-events) show its result. A body is ignored.',
  tag: 'feed',
  answer: answerOf(200, 'The event is resent.', eventResent, {
    success: true,
    rideId: exampleRideId,
    eventId: eventIdSchema.examples[0],
    sequence: 2,
    attemptId: attemptIdSchema.examples[0],
  }),
  errors: ['ride_not_found', 'event_not_found', 'not_sent_yet', 'no_webhook_url', 'body_erased'],
  route: ({ service }) =>
    inSteps(resendEvent, {
      authenticate: authenticateForRide<Pick<Ride, '_id' | keyof typeof resentFields>>(service, resentFields),
      validate: (ctx, { _id, accountId }) => ({
        accountId,
        event: { rideId: _id, seq: sequenceOf(paramOf(ctx, 'sequence')) },
      }),
      async act({ accountId, event }, { state: { requestId } }) {
        const requester = { accountId, requestId, isSpaced: true } as const;
        const attemptId = await redeliver(service, event, requester).catch((error) => {
          // The ride was found, so the event was not.
          throw error instanceof AppError && error.code === 'not_found' ? new AppError('event_not_found') : error;
        });
        return { ...event, attemptId };
      },
      present: ({ rideId, seq, attemptId }): Shape<typeof eventResent> => ({
        success: true,
        rideId,
        eventId: eventId(rideId, seq),
        sequence: seq,
        attemptId,
      }),
    }),
};

/** The number in the path. Any other text is no number of an event. */
function sequenceOf(text: string): number {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new AppError('event_not_found');
  return Number(text);
}
