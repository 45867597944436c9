import { type ErrorCode, faultCodes } from '../../shared/base/errors.ts';
import type { Header } from './openapi-types.ts';

/** The response headers that partners and drivers can rely on. */
export const answerHeaders = {
  'X-Request-Id': {
    description:
      'The id of the request in our log: give it to support. It is your own `X-Request-Id` if that has 8 to 64 letters, digits, dashes and underscores.',
    schema: { type: 'string' },
    required: true,
    example: '7b0f1f4e-6a53-4a0c-9a57-6f1f6f3c2f11',
  },
  'RateLimit-Policy': {
    description:
      'The limits on creations: quota `q` in a window of `w` seconds. A repeat with an Idempotency-Key may lack it.',
    schema: { type: 'string' },
    example: '"minute";q=30;w=60, "hour";q=300;w=3600',
  },
  RateLimit: {
    description: 'The remaining quota: `r` creations; in `t` seconds the oldest one leaves the window.',
    schema: { type: 'string' },
    example: '"minute";r=29;t=60, "hour";r=299;t=3600',
  },
  'Retry-After': {
    description: 'The number of seconds to wait before you try again.',
    schema: { type: 'integer', minimum: 1 },
    required: true,
    example: 1,
  },
  'WWW-Authenticate': {
    description: 'The authentication scheme.',
    schema: { const: 'Bearer', type: 'string' },
    required: true,
    example: 'Bearer',
  },
  'X-Service-Error-Field': {
    description: 'The path of the invalid field that the text names. Absent if the fault is not in a field.',
    schema: { type: 'string' },
    example: 'pickup.lat',
  },
  'X-Service-Errors': {
    description: `The invalid fields, at most 10, as JSON: an array of objects with \`field\`, \`code\` and \`message\`. The codes are ${faultCodes.map((code) => `\`${code}\``).join(', ')}; new ones may be added. Absent if the fault is not in a field.`,
    schema: { type: 'string' },
    example: '[{"field":"pickup.lat","code":"missing","message":"pickup.lat is required"}]',
  },
  'X-Service-Ignored-Fields': {
    description:
      'Unknown fields of your body and your query, which were ignored: at most 10 names. Errors can have it too.',
    schema: { type: 'string' },
    example: 'passengerName',
  },
  'X-Service-Replayed': {
    description: '`true` if an earlier request with this `Idempotency-Key` created the ride; absent otherwise.',
    schema: { type: 'string', const: 'true' },
    example: 'true',
  },
  'X-Service-Warnings': {
    description:
      'Only with a test key: the codes of the warnings about a valid request, separated by commas ([all codes](https://rides.example/docs/test-mode#warnings)). New codes may be added.',
    schema: { type: 'string', pattern: '^[a-z_]+(?:, [a-z_]+)*$' },
    example: 'places_far_apart, unknown_query_parameter',
  },
} as const satisfies Record<string, Header>;

export type AnswerHeader = keyof typeof answerHeaders;

export const headerOf = (name: AnswerHeader): Header => answerHeaders[name];

/**
 * The header `X-Service-Error` of a response for these errors. It is not a shared component of the OpenAPI document,
 * because each response lists its own codes.
 */
export const errorCodeHeaderOf = (codes: readonly ErrorCode[]): Header => ({
  description: 'The code of the error, for programs. New codes may be added.',
  schema: { type: 'string', enum: codes },
  required: true,
  example: codes[0] as ErrorCode,
});
