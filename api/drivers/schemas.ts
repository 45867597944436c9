import Joi from 'joi';
import type { Point } from '../../shared/base/great-circle.ts';
import { latitude, longitude } from '../http/coordinates.ts';

/** `title` names the body in the OpenAPI document. */
const body = <T>(title: string, fields: Joi.SchemaMap<T>) =>
  Joi.object<T>(fields).required().meta({ openapi: { title } }).label('The request body');

export const placeSchema = body<Point>('DriverPlace', { lat: latitude, lng: longitude });

export const reportSchema = body<Point & { heading?: number; at?: number }>('DriverReport', {
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

export const offerSchema = body<{ price: number; etaMinutes: number }>('DriverOffer', {
  price: Joi.number().greater(0).required().description('What you ask, in USD.'),
  etaMinutes: Joi.number().min(0).max(1_440).required().description('Minutes until you can be at the pickup.'),
});

export const stepSchema = body<{ rideId: string }>('DriverStep', {
  rideId: Joi.string().required().description('The ride that you are on.'),
});
