import Joi from 'joi';
import { AppError, type Fault } from '../../shared/base/errors.ts';
import type { RequestContext } from '../part.ts';

const strict = { convert: false, stripUnknown: true } as const;

const tooLarge = `{{#label}} must be between -${Number.MAX_SAFE_INTEGER} and ${Number.MAX_SAFE_INTEGER}`;
const messages = { 'number.unsafe': tooLarge, 'number.infinity': tooLarge };

/**
 * Returns the validated value, with defaults and without unknown fields. Use only this value afterwards, never the raw
 * input. Throws `invalid_request`, whose message names the first invalid field, and whose headers name all of them. With
 * `convert`, numeric strings become numbers.
 */
export function validate<T>(schema: Joi.Schema<T>, input: unknown, { convert = false } = {}): T {
  const options = { ...strict, convert, messages, errors: { label: 'path', wrap: { label: false } } } as const;
  const { value, error } = schema.validate(input, options);
  if (!error) return value;
  const { error: all = error } = schema.validate(input, { ...options, abortEarly: false });
  throw new AppError('invalid_request', {
    message: error.message,
    faults: [error, all].flatMap(faultsOf).filter(isFirst),
  });
}

const isFirst = ({ field }: Fault, index: number, faults: readonly Fault[]): boolean =>
  faults.findIndex((other) => other.field === field) === index;

const faultsOf = ({ details }: Joi.ValidationError): Fault[] =>
  // The label is the path as the message names it, such as `needs[0]`.
  details.map(({ type, message, context }) => ({ field: context?.label ?? '', code: codeOf(type), message }));

/** The code of a fault by the rule of Joi that found it. */
function codeOf(rule: string): Fault['code'] {
  if (rule === 'any.required') return 'missing';
  if (rule === 'any.only' || rule === 'object.unknown') return 'not_allowed';
  if (/^\w+\.(?:base|integer)$/.test(rule)) return 'wrong_type';
  if (/^number\.(?:min|max|greater|less|positive|unsafe|infinity)$/.test(rule)) return 'out_of_range';
  if (/^(?:string|array|object)\.(?:min|max|length|empty)$/.test(rule) || rule === 'text.length') return 'wrong_length';
  return 'invalid';
}

/** The validated query of a request. Throws a 400. */
export const queryOf = <T>(schema: Joi.Schema<T>, ctx: RequestContext): T =>
  validate(schema, { ...ctx.query }, { convert: true });

/** The fault of each invalid field by its path (`pickup.lat`), e.g. "must be a number". Empty for a valid input. */
export function faultsIn(schema: Joi.Schema, input: unknown): Record<string, string> {
  const { error } = schema.validate(input, { ...strict, abortEarly: false, errors: { label: false } });
  const faults: Record<string, string> = {};
  for (const { path, message } of error?.details ?? []) faults[path.join('.')] ??= message.trim();
  return faults;
}

export const latitude = Joi.number().min(-90).max(90).required().description('Latitude in degrees.');
export const longitude = Joi.number().min(-180).max(180).required().description('Longitude in degrees.');
