import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../../shared/base/config.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { Middleware } from '../part.ts';

/** `npm run build` creates this folder next to this file; in the compiled service it is next to the compiled file. */
export const assetFolder = path.join(import.meta.dirname, 'built');
export const manifestName = 'manifest.json';
export const assetBase = '/assets/';

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

interface Asset {
  type: string;
  /** The bodies by content coding; '' is the uncompressed one. */
  bodies: Map<string, Buffer>;
}

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

function readManifest(): Record<string, string> {
  const file = path.join(assetFolder, manifestName);
  if (!existsSync(file)) throw new ConfigError('The pages have no stylesheet or scripts yet: run npm run build first');
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** Serves the bundled files. Their names contain a hash of their content, so browsers may cache them forever. */
export function serveAssets(): Middleware {
  const assets = new Map(readdirSync(assetFolder).flatMap((file) => readAsset(file)));
  return (ctx) => {
    const asset = assets.get(ctx.path.slice(assetBase.length));
    if (!asset) throw new AppError('not_found');
    const coding = ctx.acceptsEncodings('br', 'gzip') || '';
    ctx.set({ 'Cache-Control': 'public, max-age=31536000, immutable', Vary: 'Accept-Encoding' });
    if (coding) ctx.set('Content-Encoding', coding);
    ctx.type = asset.type;
    ctx.body = asset.bodies.get(coding);
  };
}

function readAsset(file: string): [string, Asset][] {
  const type = types[path.extname(file)];
  if (!type) return [];
  const read = (suffix: string) => readFileSync(path.join(assetFolder, file + suffix));
  const bodies = new Map([
    ['', read('')],
    ['br', read('.br')],
    ['gzip', read('.gz')],
  ]);
  return [[file, { type, bodies }]];
}
