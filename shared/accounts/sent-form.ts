import { sha256 } from '../base/ids.ts';

/** A form of the dashboard that was sent. Each form has a one-time id, so sending it again repeats its answer. */
export interface SentForm {
  /** Names the form in the document that it changes. A hash: nobody can send a form whose stored name they have read. */
  id: string;
  /** The token of the session that sends it, which is not stored. Secrets are derived from it. */
  session: string;
}

/** `formId` is the form's one-time id. Forms of different accounts have different names. */
export const sentForm = (accountId: string, formId: string, session: string): SentForm => ({
  id: sha256(`${accountId} ${formId}`),
  session,
});

/** A form that has taken effect, as it is kept in the document that it changed. */
export interface AppliedForm {
  /** The `id` of the SentForm. */
  id: string;
  at: Date;
  /** False where nothing was different afterwards, for example after the same name was saved again. */
  isChange: boolean;
}

/** As many forms of one document are kept: a form that is sent again after so many others counts as a new one. */
export const keptForms = 50;

/** For this long the repeat of a form adds what its first sending could not: the audit entry and the mail. */
const completedForMs = 24 * 3_600_000;

/** Whether the repeat of a form that took effect at this time adds what is missing. Later it may have been deleted. */
export const isCompleted = (at: Date, nowMs: number): boolean => nowMs - at.getTime() < completedForMs;
