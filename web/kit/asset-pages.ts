import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { AppError } from '../../shared/base/errors.ts';
import type { FileAnswer } from './answer.ts';
import { assetBase, assetFolder, assetUrl, manifestName } from './assets.ts';
import { pageError } from './error-page.tsx';
import type { PublicPages } from './public-pages.ts';

const types: Record<string, string> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
};

/** Browsers request it for answers that name no icon, such as JSON. */
const iconPath = '/favicon.ico';

/** The stylesheet, the icon and the browser scripts of all pages. */
export function assetPages(): PublicPages {
  const assets = new Map(readdirSync(assetFolder).flatMap((file) => readAsset(file)));
  const find = (url: string): FileAnswer => {
    const asset = assets.get(url.slice(assetBase.length));
    if (!asset) throw new AppError('not_found');
    return asset;
  };
  return {
    name: 'assets',
    base: assetBase,
    owns: (path) => path.startsWith(assetBase) || path === iconPath,
    routes: {
      paths: () => [assetUrl('styles.css'), iconPath],
      answer: ({ path }) =>
        path === iconPath ? { ...find(assetUrl('icon.svg')), ...icon } : { ...find(path), headers: forever },
    },
    renderError: pageError,
  };
}

/** Their names contain a hash of their content. */
const forever = { 'Cache-Control': 'public, max-age=31536000, immutable' };
/** Unlike the address of the icon itself, this one does not change with the icon. */
const icon = { headers: { 'Cache-Control': 'public, max-age=86400' }, route: iconPath };

function readAsset(file: string): [string, FileAnswer][] {
  const type = types[path.extname(file)];
  if (!type || file === manifestName) return [];
  const read = (suffix: string) => readFileSync(path.join(assetFolder, file + suffix));
  return [[file, { type, file: read(''), encoded: { br: read('.br'), gzip: read('.gz') } }]];
}
