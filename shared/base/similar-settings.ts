import leven from 'leven';
import { settings } from './settings.ts';

/** A variable of the environment that is not a setting, and the setting that it resembles. */
export interface UnknownSetting {
  name: string;
  known: string;
}

const knownNames = Object.keys(settings.describe().keys);
/** Two short names can differ in two letters by chance, such as API_PORT and OPS_PORT. */
const longName = 9;
const shortName = 6;

/**
 * The variables that were probably meant as settings: the name of a setting with up to two wrong letters (one in a name
 * of less than 9 letters), with other underscores, or with its last words missing. Variables of OpenTelemetry may lack
 * words, because its library reads more of them. Pure.
 */
export function findSimilar(names: readonly string[]): UnknownSetting[] {
  return names.flatMap((name) => {
    if (knownNames.includes(name) || !/^\w{4,64}$/.test(name)) return [];
    const known = knownNames.find((setting) => resembles(name, setting));
    return known ? [{ name, known }] : [];
  });
}

function resembles(name: string, setting: string): boolean {
  if (plain(name) === plain(setting)) return true;
  if (!name.startsWith('OTEL_') && name.includes('_') && setting.startsWith(`${name}_`)) return true;
  const length = Math.max(name.length, setting.length);
  if (length < shortName || Math.abs(name.length - setting.length) > 2) return false;
  return leven(name.toUpperCase(), setting) <= (length < longName ? 1 : 2);
}

const plain = (name: string): string => name.replaceAll('_', '').toUpperCase();
