import Joi from 'joi';
import type { Point } from '../../shared/haversine.ts';
import { latitude, longitude } from '../http/coordinates.ts';

const body = <T>(fields: Joi.SchemaMap<T>) => Joi.object<T>(fields).required().label('The request body');

export const placeSchema = body<Point>({ lat: latitude, lng: longitude });

export const reportSchema = body<Point & { heading?: number; at?: number }>({
  lat: latitude,
  lng: longitude,
  heading: Joi.number().min(0).max(360).empty(null),
  at: Joi.number().integer().min(0).empty(null),
});

export const offerSchema = body<{ price: number; etaMinutes: number }>({
  price: Joi.number().greater(0).required(),
  etaMinutes: Joi.number().min(0).max(1_440).required(),
});

export const stepSchema = body<{ rideId: string }>({ rideId: Joi.string().required() });
