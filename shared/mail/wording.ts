/** Replaces line breaks in a partner's text, so that the text cannot add lines or headers to a mail. */
export const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

/** A time as `2026-01-31 09:05 UTC`. */
export const formatUtc = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
