import Joi from 'joi';
import { eventId } from '../../shared/base/ids.ts';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { eventExamples, eventSchemas, timeOf } from '../../shared/rides/events.ts';
import { rideId } from '../../shared/rides/public-schemas.ts';
import { type Delivery, deliveryOutcomes, type EventName, type RideEvent } from '../../shared/rides/ride-types.ts';
import type { RequestContext } from '../part.ts';
import { exampleRideId } from './fields.ts';

/** The fields and the waiting that the event feed and the events of a ride share (contract, section 10.3). */

export const waitSeconds = Joi.number()
  .integer()
  .min(0)
  .max(30)
  .empty('')
  .default(0)
  .description('How long the answer may wait until there is an event, in seconds.');

const delivery = objectSchema(
  {
    outcome: {
      type: 'string',
      enum: deliveryOutcomes,
      description:
        '`delivered`: your receiver answered with a 2xx in time. With any other one it may not have the event.',
    },
    at: { type: 'integer', description: 'When it was tried, as Unix time in milliseconds.' },
    durationMs: { type: 'integer', minimum: 0, description: 'How long the attempt took, in milliseconds.' },
    httpStatus: {
      type: 'integer',
      description: 'The status that your receiver answered with. Present if it answered.',
    },
    reason: {
      type: 'string',
      description: 'Why it was not delivered, as a short code for people to read. Present where there is one.',
      examples: ['ECONNREFUSED'],
    },
  },
  { optional: ['httpStatus', 'reason'] },
);

export const feedEvent = objectSchema(
  {
    eventId: {
      type: 'string',
      description: 'Names the event, as `X-Service-Event-Id` does.',
      examples: ['evt_0Uw4cA1k9fZ3xQ7LmT2bVn8Y_2'],
    },
    rideId,
    seq: {
      type: 'integer',
      minimum: 1,
      description: 'Number of the event within its ride, from 1, without gaps, as in `X-Service-Sequence`.',
    },
    event: { type: 'string', enum: Object.keys(eventSchemas) as EventName[], description: 'The name of the event.' },
    at: { type: 'integer', description: 'When it happened, as Unix time in milliseconds.' },
    body: {
      anyOf: [...Object.values(eventSchemas), { type: 'null' }],
      description:
        'What is sent to your webhook URL: the body of one of [these events](https://rides.example/docs/reference#events). `null` once it is erased.',
    },
    delivery: {
      anyOf: [delivery, { type: 'null' }],
      description: 'How it was delivered to your webhook URL; `null` while that is not recorded.',
    },
    requestId: {
      type: 'string',
      description: 'The `X-Request-Id` of your own request that led to the event. Present if one did.',
    },
  },
  { title: 'FeedEvent', description: 'An event, and how its delivery went.', optional: ['requestId'] },
);

export const exampleEvent: Shape<typeof feedEvent> = {
  eventId: feedEvent.properties.eventId.examples[0],
  rideId: exampleRideId,
  seq: 2,
  event: 'ride.status',
  at: eventExamples['ride.status'].at,
  body: eventExamples['ride.status'],
  delivery: { outcome: 'failed', at: 1_795_269_605_152, durationMs: 12, reason: 'ECONNREFUSED' },
  requestId: 'desk-7f31c0a2',
};

/** The body has the order of fields with which it was sent, so its JSON text is the one that was signed. */
export function presentEvent(
  rideId: string,
  { seq, event, at, clockAt, body, delivery, by, requestId }: RideEvent,
): Shape<typeof feedEvent> {
  return {
    eventId: eventId(rideId, seq),
    rideId,
    seq,
    event,
    at: timeOf({ at, clockAt }).getTime(),
    body: body ? JSON.parse(body) : null,
    delivery: delivery ? presentDelivery(delivery) : null,
    // The id of a driver's request is not shown to the partner.
    ...(requestId !== undefined && (by === 'partner' || by === 'dashboard') && { requestId }),
  };
}

function presentDelivery({ outcome, at, httpStatus, reason, durationMs }: Delivery) {
  return {
    outcome,
    at: at.getTime(),
    durationMs,
    ...(httpStatus !== undefined && { httpStatus }),
    ...(reason !== undefined && { reason }),
  };
}

/**
 * Reads again each time that there may be an event, until `isEnough` or until the time is over. `again` also authenticates
 * again: a key that was revoked in the meantime is shown nothing.
 */
export async function waitFor<Found>(
  { method }: RequestContext,
  waitSeconds: number,
  first: Found,
  isEnough: (found: Found) => boolean,
  wait: (ms: number, found: Found) => Promise<boolean>,
  again: () => Promise<Found>,
): Promise<Found> {
  let found = first;
  const until = performance.now() + (method === 'HEAD' ? 0 : waitSeconds * 1_000);
  while (!isEnough(found)) {
    const left = until - performance.now();
    if (left <= 0 || !(await wait(left, found))) break;
    found = await again();
  }
  return found;
}
