import type { MessageState } from './message-kinds.ts';

/** The provider's error for a number that has opted out. */
export const optedOutCode = 21_610;

/** What a callback says about a message. */
export interface Report {
  state: Extract<MessageState, 'sent' | 'delivered' | 'failed' | 'opted_out'>;
  reason?: string;
}

const accepted = ['accepted', 'scheduled', 'queued', 'sending', 'sent'];

/** The state that a callback's parameters report; null for others. Pure. */
export function reportIn(form: URLSearchParams): Report | null {
  const status = form.get('MessageStatus') ?? '';
  const code = Number(form.get('ErrorCode') || Number.NaN);
  if (code === optedOutCode) return { state: 'opted_out', reason: String(code) };
  if (accepted.includes(status)) return { state: 'sent' };
  if (status === 'delivered' || status === 'read') return { state: 'delivered' };
  if (status !== 'failed' && status !== 'undelivered') return null;
  return { state: 'failed', reason: Number.isInteger(code) ? `error_${code}` : status };
}
