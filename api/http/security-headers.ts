import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';
import { type Tiles, tileOrigins } from '../../shared/base/tiles.ts';

/** The headers of responses that are data: no page may frame them, and no browser may sniff or run them. */
const protect = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  xFrameOptions: { action: 'deny' },
  // `findPart` sets it on every answer.
  strictTransportSecurity: false,
  // Omitted, because they matter only for documents that a browser shows.
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** The headers are the same for every response, so helmet runs only once, at the start. */
export const dataHeaders: ReadonlyMap<string, string> = headersOf(protect);

function headersOf(middleware: ReturnType<typeof helmet>): Map<string, string> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  middleware(request, response, () => {});
  return new Map(Object.entries(response.getHeaders() as Record<string, string>));
}

/**
 * The security headers of pages. They permit only our own scripts, styles and images, and on pages with a map its
 * `tiles`. They replace helmet's `Referrer-Policy: no-referrer`, because it makes browsers send the forms of our own
 * pages with `Origin: null`. Some servers of tiles refuse requests without a referrer.
 */
export function pageHeaders({ tiles, referrer, uses = [] }: PageHeaders = {}): ReadonlyMap<string, string> {
  const { imageOrigin, scriptOrigin } = tileOrigins(tiles);
  const policy = headersOf(
    helmet({
      contentSecurityPolicy: {
        useDefaults: false,
        directives: {
          defaultSrc: ["'none'"],
          scriptSrc: ["'self'"],
          styleSrc: ["'self'"],
          imgSrc: ["'self'", 'data:', ...(imageOrigin ? [imageOrigin] : [])],
          connectSrc: ["'self'", ...(scriptOrigin ? [scriptOrigin] : [])],
          formAction: ["'self'"],
          baseUri: ["'none'"],
          frameAncestors: ["'none'"],
        },
      },
      referrerPolicy: { policy: referrer ?? (imageOrigin ? 'strict-origin' : 'same-origin') },
      strictTransportSecurity: false,
      xFrameOptions: { action: 'deny' },
      xPermittedCrossDomainPolicies: false,
      xDownloadOptions: false,
      xXssProtection: false,
    }),
  );
  const permissions = phoneFeatures.map((feature) => `${feature}=(${uses.includes(feature) ? 'self' : ''})`);
  return policy.set('Permissions-Policy', permissions.join(', '));
}

/** The features of a device that are blocked, except on pages that list them in `uses`. */
const phoneFeatures = ['camera', 'geolocation', 'microphone', 'screen-wake-lock'] as const;

interface PageHeaders {
  tiles?: Tiles;
  referrer?: 'strict-origin';
  uses?: readonly (typeof phoneFeatures)[number][];
}
