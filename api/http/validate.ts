import type Joi from 'joi';
import { AppError } from '../../shared/errors.ts';

/**
 * The checked value of a request's part, with defaults and without unknown fields; only it is used, never the raw part
 * again. Throws `invalid_request` that names the first wrong field.
 */
export function validate<T>(schema: Joi.Schema<T>, part: unknown): T {
  const { value, error } = schema.validate(part, {
    convert: false,
    stripUnknown: true,
    errors: { label: 'path', wrap: { label: false } },
  });
  if (error) throw new AppError('invalid_request', { message: error.message });
  return value;
}
