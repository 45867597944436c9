import type { Config } from '../../shared/base/config.ts';
import { AppError } from '../../shared/base/errors.ts';
import { pageError } from '../kit/error-page.tsx';
import type { PublicPages } from '../kit/public-pages.ts';
import type { Operations } from './docs-pages.ts';
import { type Documentation, documentation } from './documentation.ts';

/**
 * The documentation of these operations as pages and as Markdown, the OpenAPI documents and `/llms.txt`. It needs no key
 * and no scripts. Browsers ask for a page each time, and get a 304 while their copy is current.
 */
export function docsPages(operations: Operations, config: Pick<Config, 'publicBaseUrl'>): PublicPages {
  let cached: Documentation | undefined;
  // Builds the documentation at the first request; building it at the start would slow down the start of every process.
  const docs = () => {
    cached ??= documentation(operations, config);
    return cached;
  };
  return {
    name: 'docs',
    base: '/docs',
    owns: (path) => path === '/docs' || path.startsWith('/docs/') || path === '/llms.txt',
    headers: { 'Cache-Control': 'no-cache' },
    routes: {
      paths: () => docs().paths,
      answer({ method, path }) {
        const found = docs().answerTo(path === '/docs/' ? '/docs' : path);
        if (!found) throw new AppError('not_found');
        if (method !== 'GET' && method !== 'HEAD') {
          throw new AppError('method_not_allowed', { headers: { Allow: 'GET, HEAD' } });
        }
        const { body, type, gzip, hash } = found;
        return { file: body, type, encoded: { gzip }, etag: `W/"${hash}"`, route: path };
      },
    },
    renderError: pageError,
  };
}
