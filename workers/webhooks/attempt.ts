import type { Context } from '../../shared/context.ts';
import { AppError } from '../../shared/errors.ts';
import { eventId } from '../../shared/ids.ts';
import { SecretDamaged, SecretsKeyMissing } from '../../shared/keys/encryption.ts';
import { deliverySettings } from '../../shared/keys/manage-keys.ts';
import type { Delivery, DeliveryOutcome } from '../../shared/rides/ride-types.ts';
import { signatureHeader } from '../../shared/webhooks/sign.ts';
import type { Run } from '../handler.ts';
import { type Claimed, loggedUrl } from './claim.ts';
import { heldClaim } from './held-claim.ts';
import { send } from './send.ts';

export const secretsKeyMissing = 'secrets_key_missing';

export type Settings = { webhookUrl?: string; signingSecret: string } | Pick<Attempted, 'outcome' | 'reason'>;

/** Where and with what a key's events are sent; or what becomes of them where that cannot be known. */
export async function settingsOf(ctx: Context, keyId: string): Promise<Settings> {
  try {
    return await deliverySettings(ctx.config, keyId);
  } catch (error) {
    if (error instanceof SecretsKeyMissing) return { outcome: 'unable', reason: secretsKeyMissing };
    if (error instanceof SecretDamaged) return { outcome: 'failed', reason: 'signing_secret_damaged' };
    if (error instanceof AppError && error.code === 'not_found') return { outcome: 'failed', reason: 'no_key_record' };
    throw error;
  }
}

/** What is recorded of an attempt; or that it had no outcome: `lost` and `unable` (shared/webhooks/verdict.ts). */
export type Attempted = Omit<Delivery, 'outcome' | 'at'> & { outcome: DeliveryOutcome | 'lost' | 'unable' };

/** One attempt of a claimed event; `lost` and `unable` say that nothing was sent that could be recorded. */
export async function attempt(ctx: Context, claimed: Claimed, settings: Settings, run: Run): Promise<Attempted> {
  if ('outcome' in settings) return { ...settings, durationMs: 0 };
  const { ride, event } = claimed;
  let { signingSecret } = settings;
  const url = ride.webhookUrl ?? settings.webhookUrl;
  if (!url) return { outcome: 'no_url', durationMs: 0 };

  const held = heldClaim(claimed, run.token);
  const sent = await send({
    url,
    body: event.body,
    localTargets: ctx.config.webhookLocalTargets,
    headersNow: () => {
      const claim = held.fresh();
      return claim && deliveryHeaders(claimed, signatureHeader(signingSecret, event.body, unixSeconds(claim.at)));
    },
    renewClaim: async () => {
      ({ signingSecret } = await deliverySettings(ctx.config, ride.keyId));
      return held.renew();
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
