import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import helmet from 'helmet';
import type { Middleware } from '../types.ts';

/** For answers that are data: nothing may frame, sniff, cache or run them. */
const protect = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] } },
  xFrameOptions: { action: 'deny' },
  // What only a document that is shown could make use of.
  crossOriginOpenerPolicy: false,
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
});

/** They are the same on every answer, so helmet is asked once. */
const headers = headersOf(protect);

export const securityHeaders: Middleware = (ctx, next) => {
  ctx.res.setHeaders(headers);
  return next();
};

export const noStore: Middleware = (ctx, next) => {
  ctx.set('Cache-Control', 'no-store');
  return next();
};

function headersOf(middleware: typeof protect): Map<string, string> {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  middleware(request, response, () => {});
  return new Map(Object.entries(response.getHeaders() as Record<string, string>));
}
