import { createHash } from 'node:crypto';
import type { Config } from '../shared/base/config.ts';
import { callbackUrl, optedOutCode } from '../shared/messages/callback.ts';
import type { MessageText } from '../shared/messages/stored-messages.ts';
import { type FormAnswer, PostError, postForm } from '../shared/outbound/post-form.ts';

/** Shorter than a claim (message-jobs.ts). */
export const providerLimitMs = 10_000;

/** The result of an attempt. `unreachable`: no connection was opened, so the provider has received nothing. */
export type MessageAttempt =
  | { outcome: 'sent'; providerId?: string }
  | { outcome: 'failed' | 'opted_out' | 'unreachable'; reason: string };

/** Hands a message to the provider of SMS_URL. Never throws. */
export async function sendToProvider(
  config: Pick<Config, 'publicBaseUrl' | 'sms' | 'secrets'>,
  messageId: string,
  { to, text }: MessageText,
): Promise<MessageAttempt> {
  const { from } = config.sms;
  const form = new URLSearchParams({
    To: to,
    ...(from.startsWith('MG') ? { MessagingServiceSid: from } : { From: from }),
    Body: text,
    StatusCallback: callbackUrl(config, messageId),
  });
  // A repeat after a crash has the same token, so that the provider sends the message once.
  const headers = { 'I-Twilio-Idempotency-Token': createHash('sha256').update(messageId).digest('hex').slice(0, 32) };
  try {
    const url = new URL(config.secrets.smsUrl);
    return outcomeOf(await postForm(url, form, { headers, timeoutMs: providerLimitMs }));
  } catch (error) {
    if (!(error instanceof PostError)) throw error;
    return { outcome: error.maybeReceived ? 'failed' : 'unreachable', reason: error.code };
  }
}

/** Keeps only codes and the id: the provider's text may contain the number. */
function outcomeOf({ status, body }: FormAnswer): MessageAttempt {
  const { sid, code } = (body ?? {}) as { sid?: unknown; code?: unknown };
  const providerId = typeof sid === 'string' && /^\w{1,64}$/.test(sid) ? sid : undefined;
  if (status >= 200 && status < 300) return { outcome: 'sent', ...(providerId && { providerId }) };
  if (Number(code) === optedOutCode) return { outcome: 'opted_out', reason: String(optedOutCode) };
  return { outcome: 'failed', reason: Number.isInteger(code) ? `error_${code}` : `status_${status}` };
}
