import { pageHeaders } from '../http/security-headers.ts';
import type { Part } from '../part.ts';
import { assetBase, assetUrl, serveAssets } from './assets.ts';
import { pageError } from './error-page.tsx';

/** Browsers request it for answers that name no icon, such as JSON. */
const iconPath = '/favicon.ico';

/** The stylesheet, the icon and the browser scripts of all pages. */
export function assetsPart(): Part {
  const serve = serveAssets();
  return {
    name: 'assets',
    owns: (path) => path.startsWith(assetBase) || path === iconPath,
    headers: pageHeaders(),
    routes: () => [assetUrl('styles.css'), iconPath].map((path) => ({ method: 'GET', path })),
    async handle(ctx, next) {
      if (ctx.path !== iconPath) return serve(ctx, next);
      ctx.state.route = iconPath;
      ctx.path = assetUrl('icon.svg');
      await serve(ctx, next);
      // Unlike the address of the icon itself, this one does not change with the icon.
      ctx.set('Cache-Control', 'public, max-age=86400');
    },
    renderError: pageError,
  };
}
