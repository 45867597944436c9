import { isolated } from '../base/shown-text.ts';

/** A partner's text within a line of a mail. It cannot add lines or headers, or change the order of the line. */
export const oneLine = (text: string): string => isolated(text).replace(/\s+/gu, ' ').trim();

/** A time as `2026-01-31 09:05 UTC`. */
export const formatUtc = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
