import { sha256 } from '../base/ids.ts';

/**
 * A dashboard form that was sent. Each form has a one-time id (form id), by which a repeated form is recognized and
 * gets the same response.
 */
export interface SentForm {
  /**
   * Identifies the form in the document that it changes. A hash, so that a stored id cannot be used to send the form.
   */
  id: string;
  /** The token of the session that sent the form. It is never stored; secrets are derived from it. */
  session: string;
}

/** `formId` is the form's one-time id. The same form id in different accounts gives different `id`s. */
export const sentForm = (accountId: string, formId: string, session: string): SentForm => ({
  id: sha256(`${accountId} ${formId}`),
  session,
});

/** A form that has been applied, as stored in the document that it changed. */
export interface AppliedForm {
  /** The `id` of the SentForm. */
  id: string;
  at: Date;
  /** False if the form changed nothing, for example because it saved the same name again. */
  isChange: boolean;
}

/**
 * A document keeps the last forms that changed it. Once this many others follow, a form that is sent again counts as a
 * new one.
 */
export const keptForms = 50;

/** For this long, a repeated form adds the audit entry and the mail if its first sending failed to add them. */
const completableForMs = 24 * 3_600_000;

/** True if a repeat of a form that was applied at `at` may add missing records. Older records may have been deleted. */
export const canComplete = (at: Date, nowMs: number): boolean => nowMs - at.getTime() < completableForMs;
