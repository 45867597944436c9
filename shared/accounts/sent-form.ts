import { sha256 } from '../base/ids.ts';

/** A form of the dashboard that was sent. A repeat is recognized by its one-time id, and gets the same response. */
export interface SentForm {
  /** Identifies the form in the document that it changes. A hash, so that a stored id cannot send the form. */
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

/** A document keeps the last forms that changed it. After this many others, a form counts as a new one. */
export const keptForms = 50;

/** For this long after a form was applied, sending it again adds the audit entry and the mail if they are missing. */
const mayAddMissingForMs = 24 * 3_600_000;

/** True while a repeat of a form may add missing records. Later, they may be missing because they were deleted. */
export const mayAddMissingRecords = (at: Date, nowMs: number): boolean => nowMs - at.getTime() < mayAddMissingForMs;
