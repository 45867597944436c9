import { setTimeout } from 'node:timers/promises';
import type { Config } from '../base/config.ts';
import { decrypt } from '../base/encryption.ts';
import { AppError } from '../base/errors.ts';
import { batchedFind } from '../base/mongo/batch.ts';
import { durableWrites, timeLimit } from '../base/mongo/durability.ts';
import { type ApiKey, keys } from './api-key.ts';

/** What a delivery needs to know of its key. */
export interface DeliverySettings {
  webhookUrl?: string;
  signingSecret: string;
  /** The last deliveries failed (`failing` of the key): the next one that succeeds ends that. */
  isFailing?: true;
}

/** A request may be written with settings that were asked for at most this long ago (ms, monotonic). */
export const settingsMaxAgeMs = 250;
/** The same for settings that `holdDeliverySettings` read. */
export const heldSettingsMaxAgeMs = 2_000;

/** MongoDB's clock may step by an hour, so a time of use that is this far away says nothing. */
const heldLatelyMs = 2 * 3_600_000;
/** Answers to requests that were just written are on their way, and a timer can be early. */
const marginMs = 50;

const fields = { webhookUrl: 1, signingSecret: 1, failing: 1 } as const;
const findSettings = batchedFind<ApiKey>(keys, '_id', fields);
type Found = Pick<ApiKey, keyof typeof fields>;

/**
 * Reads the current webhook URL and signing secret of a key from the primary, for a delivery; a caller's view of a key
 * needs an owner instead. Works for a revoked key, too: the events of its rides are sent. Throws AppError `not_found` when
 * the record is missing, SecretsKeyMissing or SecretDamaged when the signing secret does not decrypt.
 */
export async function deliverySettings(config: Pick<Config, 'secrets'>, keyId: string): Promise<DeliverySettings> {
  return opened(config, keyId, await findSettings(keyId));
}

/**
 * As `deliverySettings`, but notes on the key that they are in use for 2 s: for a MongoDB that takes longer to answer than
 * settings may be old. `untilSettingsApply` waits for that.
 */
export async function holdDeliverySettings(config: Pick<Config, 'secrets'>, keyId: string): Promise<DeliverySettings> {
  const found = await keys.findOneAndUpdate(
    { _id: keyId },
    { $currentDate: { settingsHeldAt: true } },
    { ...timeLimit(), writeConcern: durableWrites(), projection: fields, returnDocument: 'after' },
  );
  return opened(config, keyId, found);
}

/**
 * Resolves when no request is written with older settings of the key: 300 ms after it was called, or 2 s where MongoDB was
 * slow. Call it after a secret was rolled or a URL changed, also in a repeat, and answer then (contract, section 6, rule 7).
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

function opened(config: Pick<Config, 'secrets'>, keyId: string, found: Found | null): DeliverySettings {
  if (!found) throw new AppError('not_found');
  const signingSecret = decrypt(found.signingSecret, config.secrets.keys, keyId);
  return { webhookUrl: found.webhookUrl, signingSecret, ...(found.failing && { isFailing: true }) };
}
