import Joi from 'joi';
import type { ErrorCode } from '../../shared/base/errors.ts';
import { objectSchema, type Shape } from '../../shared/base/json-schema.ts';
import { answerOf, bodySchema } from '../../shared/base/operation.ts';
import { applyDriverStep, type DriverStep, markNotesSeen } from '../../shared/rides/driver/driver-actions.ts';
import { exampleRideId } from '../../shared/rides/driver/driver-schemas.ts';
import { mostNotes } from '../../shared/rides/driver-notes.ts';
import { rideId } from '../../shared/rides/public-schemas.ts';
import { readJsonBody } from '../http/body.ts';
import { inSteps } from '../http/route.ts';
import { validate } from '../http/validate.ts';
import { originOf } from './authenticate-driver.ts';
import type { DriverOperation } from './driver-operation.ts';

const ownRideId = Joi.string().required().description('The ride that you are on.');

const schema = bodySchema<{ rideId: string }>('DriverStep', { rideId: ownRideId });

const startSchema = bodySchema<{ rideId: string; pin?: string }>('DriverStart', {
  rideId: ownRideId,
  pin: Joi.string().empty(null).description('The PIN that the passenger tells you. Needed if the ride has `pin`.'),
});

export const stepTaken = objectSchema(
  {
    rideId,
    status: {
      title: 'DriverStepStatus',
      type: 'string',
      enum: ['arrived', 'in_progress', 'completed', 'cancelled'],
      description: 'The status after the step.',
    },
  },
  { title: 'DriverStepTaken' },
);
type StepTaken = Shape<typeof stepTaken>;

const repeated =
  'Idempotent: repeating a step of this ride gets the same answer and changes nothing, even after the ride has ended. If you lose an answer, send the step again.';

function driverStep(
  name: DriverStep,
  summary: string,
  description: string,
  status: StepTaken['status'],
  errors: readonly ErrorCode[] = ['illegal_step'],
  body: typeof startSchema = schema,
) {
  const operation: DriverOperation = {
    id: `${name}Step`,
    method: 'POST',
    path: `/ride/${name}`,
    summary,
    description: `${description}\n\n${repeated}`,
    tag: 'trip',
    body: {
      schema: body,
      examples: { 'Your ride': { rideId: exampleRideId, ...(body === startSchema && { pin: '4821' }) } },
    },
    answer: answerOf(200, 'The step is done.', stepTaken, { rideId: exampleRideId, status }),
    errors: ['not_own_ride', ...errors, 'payload_too_large'],
    route: ({ service, authenticate }) =>
      inSteps(operation, {
        authenticate,
        validate: async (ctx, { driverId }) => ({ ...validate(body, await readJsonBody(ctx)), driverId }),
        async act({ rideId, pin, driverId }, ctx) {
          const after = await applyDriverStep(service, rideId, name, { driverId }, originOf(ctx), pin);
          return { rideId, after };
        },
        // Each step of a driver leads to one of these statuses.
        present: ({ rideId, after }): StepTaken => ({ rideId, status: after as StepTaken['status'] }),
      }),
  };
  return operation;
}

/** The steps that the chosen driver takes in a ride. */
export const driverSteps: readonly DriverOperation[] = [
  driverStep('arrive', 'Arrive', 'You are at the pickup.', 'arrived'),
  driverStep(
    'start',
    'Start the trip',
    'The passenger is in the car. If the ride has `pin`, the passenger tells you four digits. After five wrong ones within 10 minutes, all are refused for a while; the partner can start the trip too.',
    'in_progress',
    ['illegal_step', 'wrong_pin', 'pin_locked'],
    startSchema,
  ),
  driverStep('complete', 'Complete the trip', 'The passenger has left the car.', 'completed'),
  driverStep(
    'cancel',
    'Give up the ride',
    'Cancels the ride for the partner too. If the partner has set `onDriverCancel` to `rebid`, a new ride with another id replaces it, and is opened to other drivers.',
    'cancelled',
    ['ride_ended'],
  ),
];

const seenSchema = bodySchema<{ rideId: string; number: number }>('DriverSeen', {
  rideId: ownRideId,
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
  body: { schema: seenSchema, examples: { 'The second message': { rideId: exampleRideId, number: 2 } } },
  answer: { status: 204, description: 'The messages are marked.' },
  errors: ['not_own_ride', 'payload_too_large'],
  route: ({ service, authenticate }) =>
    inSteps(markSeen, {
      authenticate,
      validate: async (ctx, { driverId }) => ({ ...validate(seenSchema, await readJsonBody(ctx)), driverId }),
      act: ({ rideId, number, driverId }) => markNotesSeen(service, rideId, number, { driverId }),
    }),
};
