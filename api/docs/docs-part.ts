import compose from 'koa-compose';
import type { Context } from '../../shared/base/context.ts';
import { AppError } from '../../shared/base/errors.ts';
import { pageError } from '../../web/kit/error-page.tsx';
import { redirectToHttps } from '../http/forwarded.ts';
import { pageHeaders } from '../http/security-headers.ts';
import type { Middleware, Part, RequestContext } from '../part.ts';
import { type Documentation, documentation } from './documentation.ts';

/** The documentation as pages and as Markdown, the OpenAPI document and `/llms.txt`. It needs no key and no scripts. */
export function docsPart({ config }: Pick<Context, 'config'>): Part {
  let cached: Documentation | undefined;
  // Builds the documentation at the first request; building it at the start would slow down the start of every process.
  const docs = () => {
    cached ??= documentation(config);
    return cached;
  };
  return {
    name: 'docs',
    owns: (path) => path === '/docs' || path.startsWith('/docs/') || path === '/llms.txt',
    headers: new Map([...pageHeaders(), ['Cache-Control', 'no-cache']]),
    routes: () => docs().paths.map((path) => ({ method: 'GET', path })),
    handle: compose<RequestContext>([redirectToHttps(config), serve(docs)]),
    renderError: pageError,
  };
}

/** Serves a page with an ETag. Browsers ask each time, and get a 304 while their copy is current. */
function serve(docs: () => Documentation): Middleware {
  return (ctx) => {
    const answer = docs().answerTo(ctx.path === '/docs/' ? '/docs' : ctx.path);
    if (!answer) throw new AppError('not_found');
    if (ctx.method !== 'GET' && ctx.method !== 'HEAD') {
      throw new AppError('method_not_allowed', { headers: { Allow: 'GET, HEAD' } });
    }
    ctx.state.route = ctx.path;
    const isGzip = ctx.acceptsEncodings('gzip') === 'gzip';
    ctx.set({ Vary: 'Accept-Encoding', ETag: `W/"${answer.hash}"` });
    if (isGzip) ctx.set('Content-Encoding', 'gzip');
    ctx.type = answer.type;
    ctx.body = isGzip ? answer.gzip : answer.body;
    if (ctx.fresh) ctx.status = 304;
  };
}
