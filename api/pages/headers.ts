import helmet from 'helmet';
import { headersOf } from '../http/security-headers.ts';

/**
 * The security headers of pages: only our own scripts, styles and pictures, and pictures of the map's tiles where there are
 * any. `Referrer-Policy` is not helmet's `no-referrer`: with that, browsers send forms of our own pages with `Origin: null`.
 */
export function pageHeaders({ tileOrigin, referrer = 'same-origin' }: PageHeaders = {}): ReadonlyMap<string, string> {
  return headersOf(
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          scriptSrc: ["'self'"],
          styleSrc: ["'self'"],
          imgSrc: ["'self'", 'data:', ...(tileOrigin ? [tileOrigin] : [])],
          connectSrc: ["'self'"],
          formAction: ["'self'"],
          baseUri: ["'none'"],
          frameAncestors: ["'none'"],
        },
      },
      referrerPolicy: { policy: referrer },
      xFrameOptions: { action: 'deny' },
      xPermittedCrossDomainPolicies: false,
      xDownloadOptions: false,
      xXssProtection: false,
    }),
  );
}

interface PageHeaders {
  tileOrigin?: string;
  referrer?: 'same-origin' | 'strict-origin';
}
