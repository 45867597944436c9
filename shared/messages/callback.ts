import { createHmac } from 'node:crypto';
import { isOneOf } from '../accounts/derived-keys.ts';
import type { Config } from '../base/config.ts';

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
