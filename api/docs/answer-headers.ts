import type { ErrorCode } from '../../shared/base/errors.ts';
import type { Header } from './openapi-types.ts';

/** The headers of answers that partners and drivers may rely on. */
export const answerHeaders = {
  'X-Request-Id': {
    description:
      'Names the request in our log: tell it to support. It is your own `X-Request-Id` if that has 8 to 64 letters, digits, dashes and underscores.',
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
    description: 'What is left: `r` creations, and `t` seconds until the oldest one leaves the window.',
    schema: { type: 'string' },
    example: '"minute";r=29;t=60, "hour";r=299;t=3600',
  },
  'Retry-After': {
    description: 'How many seconds to wait before you try again.',
    schema: { type: 'integer', minimum: 1 },
    required: true,
    example: 1,
  },
  'WWW-Authenticate': {
    description: 'How to authenticate.',
    schema: { const: 'Bearer', type: 'string' },
    required: true,
    example: 'Bearer',
  },
  'X-Service-Ignored-Fields': {
    description: 'Fields of your body that are unknown and were ignored, at most 10 names. A refusal may have it too.',
    schema: { type: 'string' },
    example: 'passengerName',
  },
  'X-Service-Warnings': {
    description:
      'With a test key only: codes of what is odd about a valid request, with commas between them ([all codes](https://rides.example/docs/test-mode#warnings)). New codes may be added.',
    schema: { type: 'string', pattern: '^[a-z_]+(?:, [a-z_]+)*$' },
    example: 'places_far_apart, unknown_query_parameter',
  },
} as const satisfies Record<string, Header>;

export type AnswerHeader = keyof typeof answerHeaders;

export const headerOf = (name: AnswerHeader): Header => answerHeaders[name];

/** The header of an answer with one of these errors: an answer names its own codes, so it is no component. */
export const errorCodeHeaderOf = (codes: readonly ErrorCode[]): Header => ({
  description: 'The code of the error, for programs. New codes may be added.',
  schema: { type: 'string', enum: codes },
  required: true,
  example: codes[0] as ErrorCode,
});
