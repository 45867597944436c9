import { createApp } from '../../api/app.ts';
import { pageHeaders } from '../../api/http/security-headers.ts';
import { serve } from '../../api/http/serve.ts';
import { pageError } from '../../api/pages/error-page.tsx';
import { AppError, type ErrorCode } from '../../shared/base/errors.ts';
import { useTestContext } from '../support/service.ts';
import { testPart } from '../support/test-part.ts';
import { useStarted } from '../support/use-started.ts';
import { closeProfiles, lookAt } from './browser.ts';

describe('the page of an error', () => {
  const ctx = useTestContext();
  const server = useStarted(() => {
    const part = testPart({
      headers: pageHeaders(),
      renderError: pageError,
      handle: (requestCtx) => {
        throw new AppError(requestCtx.path.split('/').at(-1) as ErrorCode);
      },
    });
    return serve(ctx, createApp(ctx, [part]));
  });
  afterEach(closeProfiles);

  for (const code of ['too_many_streams', 'internal', 'unavailable', 'payload_too_large', 'not_found'] as const) {
    it(`the error page of ${code} passes all page checks`, () =>
      lookAt(`error-${code}`, `http://127.0.0.1:${server.port}/test/${code}`));
  }
});
