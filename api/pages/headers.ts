import helmet from 'helmet';
import { headersOf } from '../http/security-headers.ts';

/**
 * The security headers of pages: only our own scripts, styles and pictures, and pictures of the map's tiles where there are
 * any. `Referrer-Policy` is not helmet's `no-referrer`: with that, browsers send forms of our own pages with `Origin: null`.
 */
export function pageHeaders({
  tileOrigin,
  referrer = 'same-origin',
  uses = [],
}: PageHeaders = {}): ReadonlyMap<string, string> {
  const policy = headersOf(
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
  const permissions = phoneFeatures.map((feature) => `${feature}=(${uses.includes(feature) ? 'self' : ''})`);
  return policy.set('Permissions-Policy', permissions.join(', '));
}

/** What a page can ask a phone for, and only the page that says so may. */
const phoneFeatures = ['camera', 'geolocation', 'microphone', 'screen-wake-lock'] as const;

interface PageHeaders {
  tileOrigin?: string;
  referrer?: 'same-origin' | 'strict-origin';
  uses?: readonly (typeof phoneFeatures)[number][];
}
