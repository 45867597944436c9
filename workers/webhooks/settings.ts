import type { Config } from '../../shared/base/config.ts';
import {
  type DeliverySettings,
  deliverySettings,
  heldSettingsMaxAgeMs,
  holdDeliverySettings,
  settingsMaxAgeMs,
} from '../../shared/keys/delivery-settings.ts';
import { ageMs, type Moment, now } from './claim.ts';

/** Settings and when they were asked for: they are at most this old. */
export type ReadSettings = DeliverySettings & { askedAt: Moment };

/** Settings that can be read again while an attempt connects. */
export function renewableSettings(config: Pick<Config, 'secrets'>, keyId: string, first: ReadSettings) {
  let settings = first;
  let maxAgeMs = settingsMaxAgeMs;
  let reads = 0;
  return {
    /** The settings while a request may be written with them, else null. */
    ifFresh: (): ReadSettings | null => (ageMs(settings.askedAt) <= maxAgeMs ? settings : null),
    /** Reads them again. From the second time on MongoDB is slow, and they are held. Throws as `deliverySettings` does. */
    async renew(): Promise<ReadSettings> {
      reads += 1;
      const isHeld = reads > 1;
      const askedAt = now();
      const read = await (isHeld ? holdDeliverySettings : deliverySettings)(config, keyId);
      settings = { ...read, askedAt };
      maxAgeMs = isHeld ? heldSettingsMaxAgeMs : settingsMaxAgeMs;
      return settings;
    },
  };
}
