import { pageHeaders } from '../http/security-headers.ts';
import type { Part } from '../part.ts';
import { assetBase, assetUrl, serveAssets } from './assets.ts';
import { pageError } from './error-page.tsx';

/** The stylesheet, the icon and the browser scripts of all pages. */
export const assetsPart = (): Part => ({
  name: 'assets',
  owns: (path) => path.startsWith(assetBase),
  headers: pageHeaders(),
  routes: () => [{ method: 'GET', path: assetUrl('styles.css') }],
  handle: serveAssets(),
  renderError: pageError,
});
