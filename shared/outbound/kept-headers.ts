import type { IncomingHttpHeaders } from 'node:http';

/** The headers of an answer that help to find a fault. Others are not kept: they could contain a secret. */
const keptNames = [
  'content-type',
  'content-encoding',
  'content-length',
  'server',
  'via',
  'date',
  'retry-after',
  'allow',
  'location',
  'www-authenticate',
  'x-request-id',
  'x-correlation-id',
  'cf-ray',
  'x-amzn-requestid',
  'x-amzn-errortype',
] as const;

/** A longer value is cut. */
const mostCharacters = 200;

/** Selects the headers of an answer that are kept, each with at most 200 characters. `url` is the address called. */
export function keptHeaders(headers: IncomingHttpHeaders, url: URL): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of keptNames) {
    const value = name === 'location' ? originOf(headers.location, url) : headers[name];
    if (typeof value === 'string' && value !== '') kept[name] = value.slice(0, mostCharacters);
  }
  return kept;
}

/** Only the origin of a redirect: its path and its query could contain a secret. Undefined if it leads to no host. */
function originOf(location: string | undefined, url: URL): string | undefined {
  if (!location || !URL.canParse(location, url.href)) return undefined;
  const { origin } = new URL(location, url);
  return origin === 'null' ? undefined : origin;
}
