import { createHmac } from 'node:crypto';
import { isOneOf } from '../accounts/derived-keys.ts';
import type { Config } from '../base/config.ts';
import type { MessageState } from './message-kinds.ts';

/** The path below which the provider reports what became of a message. */
export const callbackBase = '/texts';

type Settings = Pick<Config, 'publicBaseUrl' | 'secrets'>;

/** The public address of a message's callback. It is signed, so it is the same wherever it is needed. */
export const callbackUrl = ({ publicBaseUrl }: Pick<Config, 'publicBaseUrl'>, messageId: string): string =>
  `${publicBaseUrl}${callbackBase}/${messageId}`;

/**
 * True if the provider signed this callback: the base64 of the HMAC-SHA1, keyed with the account's token, of the address
 * and each parameter's name and value, sorted by name. Compares in constant time.
 */
export function isSigned(
  { secrets, ...config }: Settings,
  messageId: string,
  form: URLSearchParams,
  signature: string,
): boolean {
  const token = decodeURIComponent(new URL(secrets.smsUrl).password);
  return isOneOf([signatureOf(token, callbackUrl(config, messageId), form)], signature);
}

/** The signature of a callback with a token. */
export function signatureOf(token: string, url: string, form: URLSearchParams): string {
  const parameters = [...form].sort(([one], [other]) => (one < other ? -1 : 1));
  return createHmac('sha1', token)
    .update(url + parameters.flat().join(''))
    .digest('base64');
}

/** The provider's error for a number that has opted out. */
export const optedOutCode = 21_610;

/** What the provider reports about a message. */
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
