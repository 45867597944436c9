import type { Context } from '../../shared/base/context.ts';
import { SecretDamaged, SecretsKeyMissing } from '../../shared/base/encryption.ts';
import { AppError } from '../../shared/base/errors.ts';
import { inSpan, type SpanEnd } from '../../shared/base/tracing.ts';
import { deliverySettings } from '../../shared/keys/delivery-settings.ts';
import type { Delivery, DeliveryOutcome, EventName } from '../../shared/rides/ride-types.ts';
import { deliveryHeaders } from '../../shared/webhooks/delivery-headers.ts';
import { signatureHeader } from '../../shared/webhooks/sign.ts';
import { now, type RenewableClaim } from './claim.ts';
import { secretsKeyMissing } from './postpone.ts';
import { AttemptError } from './send/attempt-outcome.ts';
import { type Attempt, type SendResult, send } from './send/send.ts';
import type { Trace } from './send/trace.ts';
import { type ReadSettings, renewableSettings } from './settings.ts';

/** What is recorded of an attempt. `lost` and `unable` are never recorded as they are (attempt-outcome.ts). */
export type Attempted = Omit<Delivery, 'outcome' | 'at'> & { outcome: DeliveryOutcome | 'lost' | 'unable' };

/** What a key says of its deliveries, or their outcome when it cannot be known. */
export type SettingsOrOutcome = ReadSettings | Pick<Attempted, 'outcome' | 'reason'>;

export async function deliverySettingsOf(ctx: Context, keyId: string): Promise<SettingsOrOutcome> {
  const askedAt = now();
  try {
    return { ...(await deliverySettings(ctx.config, keyId)), askedAt };
  } catch (error) {
    if (error instanceof SecretsKeyMissing) return { outcome: 'unable', reason: secretsKeyMissing };
    if (error instanceof SecretDamaged) return { outcome: 'failed', reason: 'signing_secret_damaged' };
    if (error instanceof AppError && error.code === 'not_found') return { outcome: 'failed', reason: 'no_key_record' };
    throw error;
  }
}

/** What an attempt sends, and where to. */
export interface Outgoing {
  keyId: string;
  event: EventName;
  eventId: string;
  seq: number;
  /** The exact text that is signed and sent. */
  body: string;
  /** The ride's own URL, which comes before the key's. */
  webhookUrl?: string;
  /** Marks what is sent by hand. */
  mark?: Record<string, string>;
  /** For its span: the ride, and the request that made the event or asked for the attempt. */
  rideId?: string;
  requestId?: string;
}

/**
 * Makes one attempt under a claim: signs the body and sends it to the ride's URL, else to the key's. `trace` receives what only
 * the dashboard shows.
 */
export async function attempt(
  ctx: Context,
  outgoing: Outgoing,
  claim: RenewableClaim,
  settings: SettingsOrOutcome,
  trace: Trace,
): Promise<Attempted> {
  if ('outcome' in settings) return { ...settings, durationMs: 0 };
  const { keyId, body } = outgoing;
  const current = renewableSettings(ctx.config, keyId, settings);
  const url = outgoing.webhookUrl ?? settings.webhookUrl;
  if (!url) return { outcome: 'no_url', durationMs: 0 };

  const message: Attempt = {
    url,
    body,
    localTargets: ctx.config.webhookLocalTargets,
    headersNow: () => {
      const fresh = claim.ifFresh();
      const secret = current.ifFresh()?.signingSecret;
      return fresh && secret ? deliveryHeaders(outgoing, signatureHeader(secret, body, unixSeconds(fresh.at))) : null;
    },
    renewClaim: async () => {
      const [isOurs, renewed] = await Promise.all([
        claim.ifFresh() !== null || claim.renew(),
        current.ifFresh() ?? current.renew(),
      ]);
      // This connection leads to the URL of before. The next run of the job begins with the new one.
      if ((outgoing.webhookUrl ?? renewed.webhookUrl) !== url) throw new AttemptError('lost', 'url_changed');
      return isOurs;
    },
  };
  const { outcome, httpStatus, reason, durationMs } = await inSpan(
    ctx.tracing,
    { name: `deliver ${outgoing.event}`, kind: 'client' },
    () => send(message, trace),
    (sent) => spanEnd(outgoing, sent),
  );
  return {
    outcome,
    url: loggedUrl(url),
    ...(httpStatus !== undefined && { httpStatus }),
    ...(reason !== undefined && { reason }),
    durationMs,
  };
}

/** Nothing of it says where the event was sent. */
function spanEnd({ requestId, rideId, keyId, seq, event }: Outgoing, { outcome, ...sent }: SendResult): SpanEnd {
  return { hasFailed: outcome !== 'delivered', fields: { requestId, rideId, keyId, seq, event, outcome, ...sent } };
}

const unixSeconds = (at: Date): number => Math.floor(at.getTime() / 1_000);

/** The URL without its query, which may hold a secret of the receiver. */
export function loggedUrl(url: string): string {
  if (!URL.canParse(url)) return '';
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
