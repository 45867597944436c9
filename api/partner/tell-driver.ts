import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { bodySchema } from '../../shared/base/operation.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { messageNumber, rideId, status } from '../../shared/rides/public-schemas.ts';
import { inSteps, rideIdOf } from '../http/route.ts';
import { textUpTo } from '../rides/field-types.ts';
import { originOf } from './authenticate.ts';
import { bodyOf } from './ignored-fields.ts';
import type { PartnerOperation } from './partner-operation.ts';
import { exampleRideId, success } from './request-fields.ts';

const schema = bodySchema<{ text: string }>('DriverMessageText', {
  text: textUpTo(300).empty().disallow('').min(1).required().description('The message, at most 300 characters.'),
});

const answer = objectSchema({ success, rideId, status, number: messageNumber }, { title: 'DriverTold' });

/** Contract, section 10.18. */
export const tellDriver: PartnerOperation = {
  id: 'tellDriver',
  method: 'POST',
  path: '/rides/:rideId/messages',
  summary: 'Write to the driver',
  description:
    'Shows a message on the page of the driver, from when a driver is found until the ride ends; at most 10 for each ride. When the ride is retrieved, `seenAt` says that the driver has seen it. It sends no event.\n\nThe same text again within a minute is a repeat: it returns 200 and sends nothing.',
  tag: 'rides',
  body: { schema, examples: { 'A message': { text: 'The guest waits at the side entrance' } } },
  answer: {
    status: 200,
    description: 'The driver has the message.',
    schema: answer,
    example: {
      success: true,
      rideId: exampleRideId,
      status: 'driver_arriving',
      number: 1,
    } satisfies Shape<typeof answer>,
  },
  errors: ['ride_not_found', 'no_driver', 'messages_full', 'ride_ended', 'payload_too_large'],
  route({ service, findCaller }) {
    const body = bodyOf(schema);
    return inSteps(tellDriver, {
      authenticate: findCaller,
      validate: async (ctx, { keyId }) => ({
        ...(await body(ctx)),
        keyId,
        rideId: rideIdOf(ctx),
        origin: originOf(ctx),
      }),
      act: ({ text, keyId, rideId, origin }) =>
        applyAction(service, rideId, { action: 'tellDriver', text, origin }, { keyId }, origin),
      present: ({ _id, status, driverNotes = [] }): Shape<typeof answer> => ({
        success: true,
        rideId: _id,
        status,
        number: driverNotes.length,
      }),
    });
  },
};
