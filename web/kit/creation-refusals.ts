import { AppError } from '../../shared/base/errors.ts';

/** The texts for refusals of a valid creation, by the error's code. */
const texts: Record<string, (error: AppError) => string> = {
  rate_limited: ({ message, headers }) => `${message}. Try again in ${waitText(Number(headers['Retry-After']))}.`,
  // The only check that is made after the form id is known.
  invalid_request: () => 'The pickup time must be 15 minutes to 30 days ahead.',
  idempotency_conflict: () =>
    'A ride was started from this form before, with other values. Check the values and start another ride.',
  ride_erased: () => 'A ride was started from this form before, and has been erased. Start another ride.',
};

/** The refusal of a valid creation in words; null for any other error. */
export function refusalWords(error: unknown): { error: AppError; words: string } | null {
  const text = error instanceof AppError && texts[error.code];
  return text ? { error, words: text(error) } : null;
}

const waitText = (seconds: number): string => (seconds < 100 ? `${seconds} s` : `${Math.ceil(seconds / 60)} min`);
