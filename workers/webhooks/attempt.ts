import type { Context } from '../../shared/context.ts';
import { AppError } from '../../shared/errors.ts';
import { eventId } from '../../shared/ids.ts';
import { SecretDamaged, SecretsKeyMissing } from '../../shared/keys/encryption.ts';
import { deliverySettings } from '../../shared/keys/manage-keys.ts';
import type { Delivery, DeliveryOutcome } from '../../shared/rides/ride-types.ts';
import { signatureHeader } from '../../shared/webhooks/sign.ts';
import type { Run } from '../handler.ts';
import { type Claimed, renewableClaim } from './claim.ts';
import { secretsKeyMissing } from './postpone.ts';
import { send } from './send.ts';

/** What is recorded of an attempt. `lost` and `unable` are never recorded as they are (attempt-outcome.ts). */
export type Attempted = Omit<Delivery, 'outcome' | 'at'> & { outcome: DeliveryOutcome | 'lost' | 'unable' };

/** A key's webhook URL and signing secret, or the outcome of its deliveries when these cannot be known. */
export type DeliverySettings = { webhookUrl?: string; signingSecret: string } | Pick<Attempted, 'outcome' | 'reason'>;

export async function deliverySettingsOf(ctx: Context, keyId: string): Promise<DeliverySettings> {
  try {
    return await deliverySettings(ctx.config, keyId);
  } catch (error) {
    if (error instanceof SecretsKeyMissing) return { outcome: 'unable', reason: secretsKeyMissing };
    if (error instanceof SecretDamaged) return { outcome: 'failed', reason: 'signing_secret_damaged' };
    if (error instanceof AppError && error.code === 'not_found') return { outcome: 'failed', reason: 'no_key_record' };
    throw error;
  }
}

/** Makes one attempt to deliver a claimed event: signs it and sends it to the ride's URL, else to the key's. */
export async function attempt(
  ctx: Context,
  claimed: Claimed,
  settings: DeliverySettings,
  run: Run,
): Promise<Attempted> {
  if ('outcome' in settings) return { ...settings, durationMs: 0 };
  const { ride, event } = claimed;
  let { signingSecret } = settings;
  const url = ride.webhookUrl ?? settings.webhookUrl;
  if (!url) return { outcome: 'no_url', durationMs: 0 };

  const renewable = renewableClaim(claimed, run.token);
  const sent = await send({
    url,
    body: event.body,
    localTargets: ctx.config.webhookLocalTargets,
    headersNow: () => {
      const claim = renewable.ifFresh();
      return claim && deliveryHeaders(claimed, signatureHeader(signingSecret, event.body, unixSeconds(claim.at)));
    },
    renewClaim: async () => {
      ({ signingSecret } = await deliverySettings(ctx.config, ride.keyId));
      return renewable.renew();
    },
  });
  const { outcome, httpStatus, reason, durationMs } = sent;
  return {
    outcome,
    url: loggedUrl(url),
    ...(httpStatus !== undefined && { httpStatus }),
    ...(reason !== undefined && { reason }),
    durationMs,
  };
}

const unixSeconds = (at: Date): number => Math.floor(at.getTime() / 1_000);

function deliveryHeaders({ ride, event }: Claimed, signature: string): Record<string, string> {
  return {
    'X-Service-Event': event.event,
    'X-Service-Signature': signature,
    'X-Service-Event-Id': eventId(ride._id, event.seq),
    'X-Service-Sequence': String(event.seq),
  };
}

/** The URL without its query, which may hold a secret of the receiver. */
export function loggedUrl(url: string): string {
  if (!URL.canParse(url)) return '';
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
