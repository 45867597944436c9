import Joi from 'joi';
import { carTypes } from '../../shared/car-types.ts';
import type { Config } from '../../shared/config.ts';
import { type Location, rideTypes, testScenarios } from '../../shared/rides/ride-types.ts';
import { checkGivenTarget } from '../../shared/targets/given-target.ts';
import { latitude, longitude } from '../http/coordinates.ts';

/** For an optional field, `null` counts as absent; an empty text is allowed. */
const text = Joi.string()
  .allow('')
  .empty(null)
  .custom((value: string, helpers) => (value.isWellFormed() ? value : helpers.error('text.form')))
  .messages({ 'text.form': '{{#label}} must be well-formed Unicode' });

const location = Joi.object<Location>({ lat: latitude, lng: longitude, address: text });

const notes = text
  .custom((value: string, helpers) => ([...value].length > 200 ? helpers.error('notes.length') : value))
  .messages({ 'notes.length': '{{#label}} must be at most 200 characters' });

/** The body of a creation (contract, section 4.1). A field that is not listed here is ignored and never stored. */
export function newRideSchema(config: Pick<Config, 'environment' | 'webhookLocalTargets'>) {
  return Joi.object({
    pickup: location.required(),
    destination: location.required(),
    fare: Joi.number().greater(0).required(),
    carType: Joi.valid(...carTypes)
      .empty(null)
      .default('regular'),
    rideType: Joi.valid(...rideTypes)
      .empty(null)
      .default('standard'),
    passengerCount: Joi.number().integer().min(1).max(7).empty(null).default(1),
    distanceKm: Joi.number().min(0).empty(null),
    passenger: Joi.object({ name: text, phone: text }).empty(null),
    notes,
    webhookUrl: Joi.string()
      .empty(null)
      .custom((value: string, helpers) => {
        const refusal = value.isWellFormed() ? checkGivenTarget(config, value) : 'must be well-formed Unicode';
        return refusal ? helpers.error('target.refused', { refusal }) : value;
      })
      .messages({ 'target.refused': '{{#label}} {{#refusal}}' }),
  })
    .required()
    .label('The request body');
}

export const acceptSchema = Joi.object({ offerId: Joi.string().required() }).required().label('The request body');

export const scenarioSchema = Joi.valid(...testScenarios).label('X-Service-Test-Scenario');

export const idempotencyKeySchema = Joi.string()
  .max(255)
  .pattern(/^[\x21-\x7e]+$/, 'printable ASCII')
  .messages({ 'string.pattern.name': '{{#label}} must be {{#name}} without spaces' })
  .label('Idempotency-Key');
