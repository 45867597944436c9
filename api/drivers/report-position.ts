import Joi from 'joi';
import type { Point } from '../../shared/base/great-circle.ts';
import { bodySchema } from '../../shared/base/operation.ts';
import type { Report } from '../../shared/drivers/position-reports.ts';
import { examplePlace } from '../../shared/rides/driver/driver-schemas.ts';
import { readJsonBody } from '../http/body.ts';
import { inSteps } from '../http/route.ts';
import { latitude, longitude, validate } from '../http/validate.ts';
import type { DriverOperation } from './driver-operation.ts';

const schema = bodySchema<Point & { heading?: number; at?: number }>('DriverReport', {
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
    schema,
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
        const { at, ...place } = validate(schema, await readJsonBody(ctx));
        const report: Report = { ...place, ...(at !== undefined && { at: new Date(Math.min(at, latestMs)) }) };
        return { driverId, report };
      },
      act: ({ driverId, report }) => reports.add(driverId, report),
      present: () => null,
    }),
};

/** The latest time that a Date can hold. */
const latestMs = 8.64e15;
