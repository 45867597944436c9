import { AppError } from '../../shared/base/errors.ts';
import type { SentRequest } from './answer.ts';

/** The names of the hidden fields with the form id, and with the account for which the page was rendered (forms.tsx). */
export const formIdField = 'formId';
export const accountField = 'account';

/** Reads the form id. Throws `invalid_request` if it is missing or malformed. */
export function formIdOf(form: Pick<SentRequest, 'text'>): string {
  const id = form.text(formIdField);
  if (!/^[\w-]{22}$/.test(id)) throw new AppError('invalid_request');
  return id;
}
