import type Joi from 'joi';
import { AppError } from '../../shared/errors.ts';

/**
 * The validated value, with defaults and without unknown fields. Use only it afterwards, never the raw input. Throws
 * `invalid_request`, which names the first invalid field.
 */
export function validate<T>(schema: Joi.Schema<T>, input: unknown): T {
  const { value, error } = schema.validate(input, {
    convert: false,
    stripUnknown: true,
    errors: { label: 'path', wrap: { label: false } },
  });
  if (error) throw new AppError('invalid_request', { message: error.message });
  return value;
}
