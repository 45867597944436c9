import type { Config } from '../../shared/base/config.ts';
import { AppError } from '../../shared/base/errors.ts';
import type { Middleware } from '../types.ts';

/**
 * Refuses a change that another site's page has sent in this browser (403), since the browser adds the session's cookie to
 * it. Browsers say by `Sec-Fetch-Site` who sends; an older one says by `Origin`.
 */
export function refuseForeignChanges({ publicBaseUrl }: Pick<Config, 'publicBaseUrl'>): Middleware {
  const ownOrigin = new URL(publicBaseUrl).origin;
  return (ctx, next) => {
    if (ctx.method === 'GET' || ctx.method === 'HEAD') return next();
    const site = ctx.get('sec-fetch-site');
    const isOwn = site ? site === 'same-origin' || site === 'none' : ctx.get('origin') === ownOrigin;
    if (!isOwn) throw new AppError('foreign_change');
    return next();
  };
}
