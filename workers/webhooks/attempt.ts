import type { Config } from '../../shared/base/config.ts';
import type { Context } from '../../shared/base/context.ts';
import { SecretDamaged, SecretsKeyMissing } from '../../shared/base/encryption.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { SentEvent } from '../../shared/base/terms.ts';
import { inSpan, type SpanEnd } from '../../shared/base/tracing.ts';
import {
  type DeliverySettings,
  type Destination,
  EndpointClosed,
  heldSettingsMaxAgeMs,
  holdDeliverySettings,
  settingsFor,
  settingsMaxAgeMs,
} from '../../shared/keys/delivery-settings.ts';
import { AttemptError } from '../../shared/outbound/attempt-outcome.ts';
import { type Attempt, type SendResult, send } from '../../shared/outbound/send.ts';
import type { Trace } from '../../shared/outbound/trace.ts';
import type { Delivery, DeliveryOutcome } from '../../shared/rides/ride-types.ts';
import { deliveryHeaders, signatureHeader } from '../../shared/webhooks/sign.ts';
import { ageMs, type ClockReading, type HeldClaim, readClocks, renewableClaim } from './claim.ts';
import { secretsKeyMissing } from './postpone.ts';

/** The result of an attempt as it is recorded. `lost` and `unable` are not recorded (attempt-outcome.ts). */
export type AttemptReport = Omit<Delivery, 'outcome' | 'at'> & { outcome: DeliveryOutcome | 'lost' | 'unable' };

/** A key's settings, and when the query for them was sent. The age of the settings counts from then. */
type TimedSettings = DeliverySettings & { askedAt: ClockReading };

/** A key's settings, or the outcome of an attempt if they cannot be read or decrypted. */
export type SettingsOrOutcome = TimedSettings | Pick<AttemptReport, 'outcome' | 'reason'>;

/**
 * Begins to read the settings of a key. The returned function resolves with them; if they are over 250 ms old by then,
 * it reads them again. Call it before claiming the event: the request must be written soon after the claim, and a slow
 * MongoDB would use up that time.
 */
export function prefetchSettings(ctx: Context, to: Destination): () => Promise<SettingsOrOutcome> {
  const askedAt = readClocks();
  const begun = readSettings(ctx, to);
  begun.catch(() => {}); // The returned function rejects with this error. It may never be called.
  return async () => {
    const settings = await begun;
    return ageMs(askedAt) <= settingsMaxAgeMs ? settings : readSettings(ctx, to);
  };
}

/** False only if the key surely has no further endpoints. */
export const mayHaveEndpoints = (settings: SettingsOrOutcome): boolean =>
  'outcome' in settings || settings.hasEndpoints === true;

async function readSettings(ctx: Context, to: Destination): Promise<SettingsOrOutcome> {
  const askedAt = readClocks();
  try {
    return { ...(await settingsFor(ctx.config, to)), askedAt };
  } catch (error) {
    if (error instanceof SecretsKeyMissing) return { outcome: 'unable', reason: secretsKeyMissing };
    if (error instanceof SecretDamaged) return { outcome: 'failed', reason: 'signing_secret_damaged' };
    if (error instanceof EndpointClosed) return { outcome: 'failed', reason: error.reason };
    if (error instanceof AppError && error.code === 'not_found') return { outcome: 'failed', reason: 'no_key_record' };
    throw error;
  }
}

/** The event that an attempt sends, and its destination. */
export interface OutgoingEvent extends Destination {
  event: SentEvent;
  eventId: string;
  /** Missing for `offer.withdrawn`. */
  seq?: number;
  /** The exact text that is signed and sent. */
  body: string;
  /** The ride's own URL, which overrides the key's. */
  webhookUrl?: string;
  /** The header that marks a resend. */
  mark?: Record<string, string>;
  /** For the span of the trace: the ride, and the request that caused the event or the resend. */
  rideId?: string;
  requestId?: string;
}

/**
 * Makes one attempt under a claim: signs the body and sends it to the ride's URL, or else to the key's. Just before the
 * request is written, renews a claim that is too old, and rereads settings that are over 250 ms old (contract, section
 * 6, rule 7). Releases the claim if the outcome is `lost`. Writes the details for the dashboard into `trace`.
 */
export async function attempt(
  ctx: Context,
  outgoing: OutgoingEvent,
  held: HeldClaim,
  settings: SettingsOrOutcome,
  trace: Trace,
): Promise<AttemptReport> {
  if ('outcome' in settings) return { ...settings, durationMs: 0 };
  const { body } = outgoing;
  const url = outgoing.webhookUrl ?? settings.webhookUrl;
  if (!url) return { outcome: 'no_url', durationMs: 0 };

  const claim = renewableClaim(ctx, held);
  const current = renewableSettings(ctx.config, outgoing, settings);
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
        current.ifFresh() ?? current.renew().catch(nullIfClosed),
      ]);
      // This connection leads to the previous URL, so nothing is sent on it. The next run of the job uses the new URL.
      if ((outgoing.webhookUrl ?? renewed?.webhookUrl) !== url) throw new AttemptError('lost', 'url_changed');
      return isOurs;
    },
  };
  const { outcome, httpStatus, reason, durationMs } = await inSpan(
    ctx.tracing,
    { name: `deliver ${outgoing.event}`, kind: 'client' },
    () => send(message, trace),
    (sent) => spanEnd(outgoing, sent),
  );
  if (outcome === 'lost') await held.release();
  return {
    outcome,
    url: loggedUrl(url),
    ...(httpStatus !== undefined && { httpStatus }),
    ...(reason !== undefined && { reason }),
    durationMs,
  };
}

/** The endpoint was turned off or deleted while the attempt connected. The next run records that. */
function nullIfClosed(error: unknown): null {
  if (error instanceof EndpointClosed) return null;
  throw error;
}

/** Settings that can be read again while an attempt connects. */
function renewableSettings(config: Pick<Config, 'secrets'>, to: Destination, first: TimedSettings) {
  let settings = first;
  let maxAgeMs = settingsMaxAgeMs;
  let reads = 0;
  return {
    /** Returns the settings if they are fresh enough to write a request with them, else null. */
    ifFresh: (): TimedSettings | null => (ageMs(settings.askedAt) <= maxAgeMs ? settings : null),
    /**
     * Reads the settings again. If it must read them a second time, MongoDB is slow; it then uses
     * `holdDeliverySettings`, which allows a higher age. Throws what `deliverySettings` throws.
     */
    async renew(): Promise<TimedSettings> {
      reads += 1;
      const isHeld = reads > 1;
      const askedAt = readClocks();
      const read = await settingsFor(config, to, isHeld ? holdDeliverySettings : undefined);
      settings = { ...read, askedAt };
      maxAgeMs = isHeld ? heldSettingsMaxAgeMs : settingsMaxAgeMs;
      return settings;
    },
  };
}

/** The fields of the span. They do not contain the destination. */
function spanEnd({ requestId, rideId, keyId, seq, event }: OutgoingEvent, { outcome, ...sent }: SendResult): SpanEnd {
  return { hasFailed: outcome !== 'delivered', fields: { requestId, rideId, keyId, seq, event, outcome, ...sent } };
}

const unixSeconds = (at: Date): number => Math.floor(at.getTime() / 1_000);

/** The URL without its query, which may contain a secret of the receiver. */
function loggedUrl(url: string): string {
  if (!URL.canParse(url)) return '';
  const { origin, pathname } = new URL(url);
  return origin + pathname;
}
