import Joi from 'joi';
import { bodySchema } from '../../shared/base/operation.ts';
import { markNotesSeen } from '../../shared/rides/driver/driver-actions.ts';
import { exampleRideId } from '../../shared/rides/driver/driver-schemas.ts';
import { mostNotes } from '../../shared/rides/driver-notes.ts';
import { readJsonBody } from '../http/body.ts';
import { inSteps } from '../http/route.ts';
import { validate } from '../http/validate.ts';
import type { DriverOperation } from './driver-operation.ts';

const schema = bodySchema<{ rideId: string; number: number }>('DriverSeen', {
  rideId: Joi.string().required().description('The ride that you are on.'),
  number: Joi.number().integer().min(1).max(mostNotes).required().description('The last message that you have seen.'),
});

export const markSeen: DriverOperation = {
  id: 'markMessagesSeen',
  method: 'POST',
  path: '/ride/seen',
  summary: 'Mark messages as seen',
  description:
    'You have seen the messages of the partner up to this number; the partner sees that. Idempotent: a repeat changes nothing.',
  tag: 'trip',
  body: { schema, examples: { 'The second message': { rideId: exampleRideId, number: 2 } } },
  answer: { status: 204, description: 'The messages are marked.' },
  errors: ['not_own_ride', 'payload_too_large'],
  route: ({ service, authenticate }) =>
    inSteps(markSeen, {
      authenticate,
      validate: async (ctx, { driverId }) => ({ ...validate(schema, await readJsonBody(ctx)), driverId }),
      act: ({ rideId, number, driverId }) => markNotesSeen(service, rideId, number, { driverId }),
      present: () => null,
    }),
};
