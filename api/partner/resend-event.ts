import { AppError } from '../../shared/base/errors.ts';
import { eventId } from '../../shared/base/ids.ts';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { eventId as eventIdSchema, rideId, sequence } from '../../shared/rides/public-schemas.ts';
import type { Ride } from '../../shared/rides/ride-types.ts';
import { redeliver } from '../../shared/webhooks/redeliver.ts';
import { inSteps, paramOf } from '../http/route.ts';
import { authenticateForRide, originOf } from './authenticate.ts';
import { attemptIdSchema } from './event-fields.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { exampleRideId, success } from './request-fields.ts';

const answer = objectSchema(
  { success, rideId, eventId: eventIdSchema, sequence, attemptId: attemptIdSchema },
  { title: 'EventResent' },
);

const readFields = { keyId: 1, accountId: 1 } as const;

/** Contract, section 10.13. */
export const resendEvent: PartnerOperation = {
  id: 'resendEvent',
  method: 'POST',
  path: '/rides/:rideId/events/:sequence/resend',
  summary: 'Resend an event',
  description:
    'Sends an event to your webhook URL again, with the same body and id, a new signature and `X-Service-Redelivery: true`. At most 10 events of a key are resent in a second; further ones wait. While a resend of the event waits or is being made, another request for it changes nothing.\n\nThe answer does not wait for the delivery: the `resends` of [the ride’s events](https://rides.example/docs/reference/list-ride-events) show its result. A body is ignored.',
  tag: 'feed',
  answer: {
    status: 200,
    description: 'The event is resent.',
    schema: answer,
    example: {
      success: true,
      rideId: exampleRideId,
      eventId: eventIdSchema.examples[0],
      sequence: 2,
      attemptId: attemptIdSchema.examples[0],
    } satisfies Shape<typeof answer>,
  },
  errors: ['ride_not_found', 'event_not_found', 'not_sent_yet', 'no_webhook_url', 'body_erased'],
  route: ({ service }) =>
    inSteps(resendEvent, {
      authenticate: authenticateForRide<Pick<Ride, '_id' | keyof typeof readFields>>(service, readFields),
      validate: (ctx, { _id, accountId }) => ({
        event: { rideId: _id, seq: sequenceOf(paramOf(ctx, 'sequence')) },
        requester: { accountId, requestId: originOf(ctx).requestId, isSpaced: true } as const,
      }),
      async act({ event, requester }) {
        const attemptId = await redeliver(service, event, requester).catch((error) => {
          // The ride was found, so the event was not.
          throw error instanceof AppError && error.code === 'not_found' ? new AppError('event_not_found') : error;
        });
        return { ...event, attemptId };
      },
      present: ({ rideId, seq, attemptId }): Shape<typeof answer> => ({
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
