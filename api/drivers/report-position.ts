import Joi from 'joi';
import type { Point } from '../../shared/base/great-circle.ts';
import type { Report } from '../../shared/drivers/positions.ts';
import { readJsonBody } from '../http/body.ts';
import { bodySchema } from '../http/operation.ts';
import { put } from '../http/route.ts';
import { latitude, longitude, validate } from '../http/validate.ts';
import { examplePlace } from './fields.ts';
import type { DriverOperation } from './operation.ts';

const schema = bodySchema<Point & { heading?: number; at?: number }>('DriverReport', {
  lat: latitude,
  lng: longitude,
  heading: Joi.number()
    .min(0)
    .max(360)
    .empty(null)
    .description('Where the car is heading, in degrees clockwise from north. Without it: as it was.'),
  at: Joi.number()
    .integer()
    .min(0)
    .empty(null)
    .description(
      'The time on your own clock, as Unix time in milliseconds. It orders your reports. Without it, reports count in the order in which they arrive.',
    ),
});

export const reportPosition: DriverOperation<'PUT'> = {
  id: 'reportPosition',
  method: 'PUT',
  path: '/me/position',
  summary: 'Report your position',
  description:
    'Says where you are; do it every few seconds. A report whose `at` is older than that of the last one leaves the position as it is, but counts as heard. After 60 seconds of silence no ride is opened to you until the next report.',
  tag: 'driver',
  body: {
    schema,
    examples: {
      'Here and now': { ...examplePlace, heading: 210 },
      'A moment ago': { ...examplePlace, at: 1_795_269_600_402 },
    },
  },
  answer: { status: 204, description: 'Noted.' },
  errors: ['payload_too_large'],
  route: ({ authenticatePatiently, reports }) =>
    put(reportPosition, {
      authenticate: authenticatePatiently,
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
