import Joi from 'joi';
import { AppError } from '../../shared/base/errors.ts';
import type { RequestContext } from '../part.ts';

const strict = { convert: false, stripUnknown: true } as const;

/**
 * Returns the validated value, with defaults and without unknown fields. Use only this value afterwards, never the raw
 * input. Throws `invalid_request`, which names the first invalid field. With `convert`, numeric strings become numbers.
 */
export function validate<T>(schema: Joi.Schema<T>, input: unknown, { convert = false } = {}): T {
  const { value, error } = schema.validate(input, {
    ...strict,
    convert,
    errors: { label: 'path', wrap: { label: false } },
  });
  if (error) throw new AppError('invalid_request', { message: error.message });
  return value;
}

/** The validated query of a request. Throws a 400. */
export const queryOf = <T>(schema: Joi.Schema<T>, ctx: RequestContext): T =>
  validate(schema, { ...ctx.query }, { convert: true });

/**
 * The reasons why `validate` refuses an input: the path of each invalid field (`pickup.lat`) and its fault ("must be a
 * number"). Empty for a valid input.
 */
export function faultsIn(schema: Joi.Schema, input: unknown): Record<string, string> {
  const { error } = schema.validate(input, { ...strict, abortEarly: false, errors: { label: false } });
  const faults: Record<string, string> = {};
  for (const { path, message } of error?.details ?? []) faults[path.join('.')] ??= message.trim();
  return faults;
}

export const latitude = Joi.number().min(-90).max(90).required().description('Latitude in degrees.');
export const longitude = Joi.number().min(-180).max(180).required().description('Longitude in degrees.');
