import { setTimeout } from 'node:timers/promises';
import type { Config } from '../base/config.ts';
import { decrypt } from '../base/encryption.ts';
import { AppError } from '../base/errors.ts';
import { batchedFind } from '../base/mongo/batch.ts';
import { durableWrites, timeLimit } from '../base/mongo/durability.ts';
import { type ApiKey, keys } from './api-key.ts';
import { type Endpoint, endpoints } from './endpoints.ts';

/** The settings of a key that a delivery needs. */
export interface DeliverySettings {
  webhookUrl?: string;
  signingSecret: string;
  /** Set if the last deliveries failed (`failing` of the key). The next success clears it. */
  isFailing?: true;
  /** The key has or had further endpoints. */
  hasEndpoints?: true;
}

/** The receiver of a delivery: the default URL of a key, or a further endpoint of it. */
export interface Destination {
  keyId: string;
  endpointId?: string;
}

/** The maximum age of settings when a request is written (ms, from the start of their read). */
export const settingsMaxAgeMs = 250;
/** The maximum age of settings from `holdDeliverySettings`. */
export const heldSettingsMaxAgeMs = 2_000;

/** A hold counts if its time is within this of now: more than an hour, because MongoDB's clock may step by one. */
const heldLatelyMs = 2 * 3_600_000;
/** Added to the wait: a request that was just written is in flight, and a timer can fire early. */
const marginMs = 50;

const fields = { webhookUrl: 1, signingSecret: 1, failing: 1, hasEndpoints: 1 } as const;
const findSettings = batchedFind<ApiKey>(keys, '_id', fields);
type StoredSettings = Pick<ApiKey, keyof typeof fields>;
const findEndpoint = batchedFind<Endpoint>(endpoints, '_id', { url: 1, signingSecret: 1, disabledAt: 1 });

/**
 * Reads the current webhook URL and signing secret of a key from the primary, for a delivery. It checks no owner: do
 * not use it to show a key. It also works for a revoked key, because the events of its rides are still sent. Throws
 * AppError `not_found` if the key does not exist, and SecretsKeyMissing or SecretDamaged if the signing secret does not
 * decrypt.
 */
export async function deliverySettings(config: Pick<Config, 'secrets'>, keyId: string): Promise<DeliverySettings> {
  return decryptSettings(config, keyId, await findSettings(keyId));
}

/**
 * Like `deliverySettings`, but the settings may be used for 2 s. It is for a MongoDB that needs more than the normal
 * 250 ms to answer. Records on the key that settings are held, so that `untilSettingsApply` waits for them.
 */
export async function holdDeliverySettings(config: Pick<Config, 'secrets'>, keyId: string): Promise<DeliverySettings> {
  const found = await keys.findOneAndUpdate(
    { _id: keyId },
    { $currentDate: { settingsHeldAt: true } },
    { ...timeLimit(), writeConcern: durableWrites(), projection: fields, returnDocument: 'after' },
  );
  return decryptSettings(config, keyId, found);
}

/** Nothing is sent to the endpoint any more. `reason` is a code of webhooks/failure-reasons.ts. */
export class EndpointClosed extends Error {
  readonly reason: 'endpoint_deleted' | 'endpoint_off';

  constructor(reason: EndpointClosed['reason']) {
    super(reason);
    this.reason = reason;
  }
}

/** Like `deliverySettings`, but for any destination. Throws EndpointClosed if an endpoint was turned off or deleted. */
export async function settingsFor(
  config: Pick<Config, 'secrets'>,
  { keyId, endpointId }: Destination,
  readKey = deliverySettings,
): Promise<DeliverySettings> {
  if (endpointId === undefined) return readKey(config, keyId);
  // The wait for new settings goes by the key, so a hold of an endpoint's settings must be recorded there too.
  if (readKey === holdDeliverySettings) await readKey(config, keyId);
  const found = await findEndpoint(endpointId);
  if (!found) throw new EndpointClosed('endpoint_deleted');
  if (found.disabledAt) throw new EndpointClosed('endpoint_off');
  return { webhookUrl: found.url, signingSecret: decrypt(found.signingSecret, config.secrets.keys, endpointId) };
}

/**
 * Resolves when no further request is written with older settings of the key: after 300 ms, or after 2 s if a worker
 * has held settings. Await it after rolling a secret or changing a URL, before the response is sent, also for a
 * repeated form (contract, section 6, rule 7).
 */
export async function untilSettingsApply(keyId: string): Promise<void> {
  const startedAt = performance.now();
  const isHeld = await keys.findOne(
    {
      _id: keyId,
      settingsHeldAt: { $exists: true },
      $expr: { $lt: [{ $abs: { $subtract: ['$$NOW', '$settingsHeldAt'] } }, heldLatelyMs] },
    },
    { ...timeLimit(), projection: { _id: 1 } },
  );
  const waitMs = (isHeld ? heldSettingsMaxAgeMs : settingsMaxAgeMs) + marginMs;
  await setTimeout(Math.max(0, waitMs - (performance.now() - startedAt)));
}

function decryptSettings(
  config: Pick<Config, 'secrets'>,
  keyId: string,
  found: StoredSettings | null,
): DeliverySettings {
  if (!found) throw new AppError('not_found');
  const signingSecret = decrypt(found.signingSecret, config.secrets.keys, keyId);
  const { webhookUrl, failing, hasEndpoints } = found;
  return { webhookUrl, signingSecret, ...(failing && { isFailing: true }), ...(hasEndpoints && { hasEndpoints }) };
}
