import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../shared/base/errors.ts';

/** `npm run build` creates this folder next to this file; in the compiled service it is next to the compiled file. */
export const assetFolder = path.join(import.meta.dirname, 'built');
export const manifestName = 'manifest.json';
export const listenName = 'listen.mjs';
export const assetBase = '/assets/';

let manifest: Record<string, string> | undefined;

/**
 * The address of a bundled file, by its name without the hash (`styles.css`). Throws ConfigError before the first
 * build.
 */
export function assetUrl(name: string): string {
  manifest ??= readManifest();
  const file = manifest[name];
  if (!file) throw new Error(`no asset is named ${name}`);
  return assetBase + file;
}

/** The bundled file that the documentation serves as `/docs/listen.mjs`. Throws ConfigError before the first build. */
export const readListenFile = (): string => readBuilt(listenName);

const readManifest = (): Record<string, string> => JSON.parse(readBuilt(manifestName));

function readBuilt(name: string): string {
  const file = path.join(assetFolder, name);
  if (!existsSync(file)) throw new ConfigError('The pages have no stylesheet or scripts yet: run npm run build first');
  return readFileSync(file, 'utf8');
}
