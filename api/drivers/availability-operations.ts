import Joi from 'joi';
import type { Point } from '../../shared/base/great-circle.ts';
import type { Shape } from '../../shared/base/json-schema.ts';
import { answerOf, bodySchema } from '../../shared/base/operation.ts';
import { goOffline as putOffline } from '../../shared/drivers/change-availability.ts';
import type { Report } from '../../shared/drivers/position-reports.ts';
import { availability, examplePlace } from '../../shared/rides/driver/driver-schemas.ts';
import { putOnline } from '../../shared/rides/driver/settle-driver.ts';
import { readJsonBody } from '../http/body.ts';
import { inSteps } from '../http/route.ts';
import { latitude, longitude, validate } from '../http/validate.ts';
import type { DriverOperation } from './driver-operation.ts';

/** When a driver is available, and where. */

const placeSchema = bodySchema<Point>('DriverPlace', { lat: latitude, lng: longitude });

export const goOnline: DriverOperation = {
  id: 'goOnline',
  method: 'POST',
  path: '/me/online',
  summary: 'Go online',
  description: 'From now on, rides near this place are opened to you, as long as you report your position.',
  tag: 'driver',
  body: { schema: placeSchema, examples: { 'A place': examplePlace } },
  answer: answerOf(200, 'Online. `available` is `false` only while you are on a ride.', availability, {
    available: true,
  }),
  errors: ['payload_too_large'],
  route: ({ service, authenticate }) =>
    inSteps(goOnline, {
      authenticate,
      validate: async (ctx, driver) => ({ driver, place: validate(placeSchema, await readJsonBody(ctx)) }),
      act: ({ driver, place }) => putOnline(service, driver, place),
      present: (available): Shape<typeof availability> => ({ available }),
    }),
};

export const goOffline: DriverOperation = {
  id: 'goOffline',
  method: 'POST',
  path: '/me/offline',
  summary: 'Go offline',
  description:
    'No further ride is opened to you. Your current ride continues, and your offers stay live. The request has no body.',
  tag: 'driver',
  answer: answerOf(200, 'Offline.', availability, { available: false }),
  errors: [],
  route: ({ authenticate }) =>
    inSteps(goOffline, {
      authenticate,
      validate: (_ctx, driver) => driver,
      act: ({ driverId }) => putOffline(driverId),
      present: (): Shape<typeof availability> => ({ available: false }),
    }),
};

const reportSchema = bodySchema<Point & { heading?: number; at?: number }>('DriverReport', {
  lat: latitude,
  lng: longitude,
  // Phones report a negative heading if they do not know it.
  heading: Joi.number()
    .max(360)
    .empty(Joi.alternatives(null, Joi.number().negative()))
    .description(
      'Heading of the car, in degrees clockwise from north; a negative one counts as absent. Default: unchanged.',
    ),
  at: Joi.number()
    .integer()
    .min(0)
    .empty(null)
    .description(
      'The time of the position on your own clock, as Unix time in milliseconds. It orders your reports. Without it, reports are ordered by their arrival.',
    ),
});

export const reportPosition: DriverOperation = {
  id: 'reportPosition',
  method: 'PUT',
  path: '/me/position',
  summary: 'Report your position',
  description:
    'Reports your position; send it every few seconds. A report changes the position only if its `at` is later than the last `at`, but every report keeps you available. After 60 seconds without a report, no ride is opened to you until you report again.',
  tag: 'driver',
  body: {
    schema: reportSchema,
    examples: {
      'Here and now': { ...examplePlace, heading: 210 },
      'A moment ago': { ...examplePlace, at: 1_795_269_600_402 },
    },
  },
  answer: { status: 204, description: 'The report is received.' },
  errors: ['payload_too_large'],
  route: ({ authenticateInBatch, reports }) =>
    inSteps(reportPosition, {
      authenticate: authenticateInBatch,
      validate: async (ctx, { driverId }) => {
        const { at, ...place } = validate(reportSchema, await readJsonBody(ctx));
        const report: Report = { ...place, ...(at !== undefined && { at: new Date(Math.min(at, latestMs)) }) };
        return { driverId, report };
      },
      act: ({ driverId, report }) => reports.add(driverId, report),
    }),
};

/** The latest time that a Date can hold. */
const latestMs = 8.64e15;
