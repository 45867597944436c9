import type { Config } from '../base/config.ts';
import { checkTargetUrl } from './target.ts';

/**
 * Like `checkTargetUrl`, for a URL that a partner or an operator enters. In development, the text of a refusal names
 * the setting that would allow the URL, with the port of this stack, so that no second one is started.
 */
export function checkGivenTarget(
  { environment, webhookLocalTargets, port }: Pick<Config, 'environment' | 'webhookLocalTargets'> & { port?: number },
  url: string,
): string | null {
  const refusal = checkTargetUrl(url, webhookLocalTargets);
  if (!refusal || environment !== 'development' || !couldBeAllowed(url)) return refusal;
  const command = `${port ? `PORT=${port} ` : ''}WEBHOOK_LOCAL_TARGETS=${new URL(url).origin} npm run dev`;
  return `${refusal}; for a local receiver, start this stack again with: ${command}`;
}

/** True if WEBHOOK_LOCAL_TARGETS with the origin of `url` would allow the URL. */
function couldBeAllowed(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { origin, protocol } = new URL(url);
  // Stryker disable next-line Regex: the origin of any other scheme is 'null', which allows nothing
  return /^https?:$/.test(protocol) && checkTargetUrl(url, [origin]) === null;
}
