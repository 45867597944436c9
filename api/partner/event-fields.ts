import Joi from 'joi';
import { eventId } from '../../shared/base/ids.ts';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { pick } from '../../shared/base/pick.ts';
import type { EventName } from '../../shared/base/terms.ts';
import { eventExamples, eventSchemas } from '../../shared/rides/event-schemas.ts';
import { partnersRequestId, timeOf } from '../../shared/rides/events.ts';
import { eventId as eventIdSchema, rideId, sequence, unixMs } from '../../shared/rides/public-schemas.ts';
import { type Delivery, deliveryOutcomes, type RideEvent } from '../../shared/rides/ride-types.ts';
import type { AttemptSummary } from '../../shared/webhooks/attempts.ts';
import type { RequestContext } from '../part.ts';
import { exampleRideId } from './request-fields.ts';

/** The event feed and the events of a ride share these fields and the long polling (contract, section 10.3). */

export const waitSeconds = Joi.number()
  .integer()
  .min(0)
  .max(30)
  .empty('')
  .default(0)
  .description('The maximum time that the answer waits for an event, in seconds.');

const delivery = objectSchema(
  {
    outcome: {
      title: 'DeliveryOutcome',
      type: 'string',
      enum: deliveryOutcomes,
      description:
        '`delivered`: your receiver answered with a 2xx in time. With any other outcome it may not have the event.',
    },
    at: unixMs('The time of the attempt'),
    durationMs: { type: 'integer', minimum: 0, description: 'The duration of the attempt, in milliseconds.' },
    httpStatus: {
      type: 'integer',
      description: "The status of your receiver's answer. Present if it answered.",
    },
    reason: {
      type: 'string',
      description: 'The reason for a failure, as a short code for people to read. Present if one is known.',
      examples: ['ECONNREFUSED'],
    },
  },
  { optional: ['httpStatus', 'reason'] },
);

export const attemptIdSchema = {
  type: 'string',
  description: 'The id of the attempt, which the dashboard shows too.',
  examples: ['att_0Vc9WlJr8Q2mXb4T'],
} as const;

/** A resend of an event, which the `delivery` of the event does not show. */
export const resendSchema = objectSchema(
  {
    attemptId: attemptIdSchema,
    seq: sequence,
    requestedAt: unixMs('The time for which it was requested'),
    outcome: {
      title: 'ResendOutcome',
      type: 'string',
      enum: ['waiting', ...deliveryOutcomes],
      description: '`waiting`: it is not sent yet. The others are those of a `delivery`.',
    },
    httpStatus: delivery.properties.httpStatus,
    reason: delivery.properties.reason,
  },
  { title: 'EventResend', description: 'A resend of an event.', optional: ['httpStatus', 'reason'] },
);

export const presentResend = ({ _id, seq = 0, at, ...resend }: AttemptSummary) => ({
  attemptId: _id,
  seq,
  requestedAt: at.getTime(),
  ...pick(resend, 'outcome', 'httpStatus', 'reason'),
});

export const feedEvent = objectSchema(
  {
    eventId: eventIdSchema,
    rideId,
    seq: sequence,
    event: {
      title: 'EventName',
      type: 'string',
      enum: Object.keys(eventSchemas) as EventName[],
      description: 'The name of the event.',
    },
    at: unixMs('The time of the event'),
    body: {
      anyOf: [...Object.values(eventSchemas), { type: 'null' }],
      description:
        'The body that is sent to your webhook URL: one of [these events](https://rides.example/docs/reference#events). `null` once it is erased.',
    },
    delivery: {
      anyOf: [delivery, { type: 'null' }],
      description: 'The delivery to your webhook URL; `null` until it is recorded.',
    },
    requestId: {
      type: 'string',
      description: 'The `X-Request-Id` of your request that caused the event. Present if one did.',
    },
  },
  { title: 'FeedEvent', description: 'An event and its delivery.', optional: ['requestId'] },
);

export const exampleEvent: Shape<typeof feedEvent> = {
  eventId: eventIdSchema.examples[0],
  rideId: exampleRideId,
  seq: 2,
  event: 'ride.status',
  at: eventExamples['ride.status'].at,
  body: eventExamples['ride.status'],
  delivery: { outcome: 'failed', at: 1_795_269_605_152, durationMs: 12, reason: 'ECONNREFUSED' },
  requestId: 'desk-7f31c0a2',
};

/** The fields of the event's body keep their order, so the answer contains the text that was signed. */
export function presentEvent(
  rideId: string,
  { seq, event, at, clockAt, body, delivery, ...origin }: RideEvent,
): Shape<typeof feedEvent> {
  const requestId = partnersRequestId(origin);
  return {
    eventId: eventId(rideId, seq),
    rideId,
    seq,
    event,
    at: timeOf({ at, clockAt }).getTime(),
    body: body ? JSON.parse(body) : null,
    delivery: delivery ? presentDelivery(delivery) : null,
    ...(requestId !== undefined && { requestId }),
  };
}

const presentDelivery = ({ at, ...delivery }: Delivery) => ({
  outcome: delivery.outcome,
  at: at.getTime(),
  ...pick(delivery, 'durationMs', 'httpStatus', 'reason'),
});

/**
 * Long polling: waits and reads again, until `isEnough` returns true or the wait is over. `again` also authenticates
 * again, so that a key that is revoked during the wait gets a 401, also without events (contract, section 10.3).
 */
export async function waitFor<Result>(
  { method }: RequestContext,
  waitSeconds: number,
  first: Result,
  isEnough: (result: Result) => boolean,
  wait: (ms: number, result: Result) => Promise<boolean>,
  again: () => Promise<Result>,
): Promise<Result> {
  let result = first;
  const until = performance.now() + (method === 'HEAD' ? 0 : waitSeconds * 1_000);
  while (!isEnough(result)) {
    const left = until - performance.now();
    if (left <= 0) break;
    const isWoken = await wait(left, result);
    result = await again();
    if (!isWoken) break;
  }
  return result;
}
