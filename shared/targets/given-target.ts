import type { Config } from '../base/config.ts';
import { checkTargetUrl } from './target.ts';

const localReceiverHint = 'for a local receiver: WEBHOOK_LOCAL_TARGETS=http://127.0.0.1:4000 npm run dev';

/**
 * Like `checkTargetUrl`, for a URL that a partner or an operator enters. In development, the text of a refusal names
 * the setting that would allow the URL.
 */
export function checkGivenTarget(
  { environment, webhookLocalTargets }: Pick<Config, 'environment' | 'webhookLocalTargets'>,
  url: string,
): string | null {
  const refusal = checkTargetUrl(url, webhookLocalTargets);
  return refusal && environment === 'development' && couldBeAllowed(url) ? `${refusal}; ${localReceiverHint}` : refusal;
}

/** True if WEBHOOK_LOCAL_TARGETS with the origin of `url` would allow the URL. */
function couldBeAllowed(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { origin, protocol } = new URL(url);
  // Stryker disable next-line Regex: the origin of any other scheme is 'null', which allows nothing
  return /^https?:$/.test(protocol) && checkTargetUrl(url, [origin]) === null;
}
