import { expect } from 'chai';
import { createApp } from '../../api/app.ts';
import { pageHeaders } from '../../api/http/security-headers.ts';
import { serve } from '../../api/http/serve.ts';
import { pageError } from '../../api/pages/error-page.tsx';
import { AppError, type ErrorCode } from '../../shared/base/errors.ts';
import { useTestContext } from '../support/service.ts';
import { testPart } from '../support/test-part.ts';
import { useStarted } from '../support/use-started.ts';
import { closeProfiles, lookAt, openPage, openProfile } from './browser.ts';

describe('the front door and the pages of errors', () => {
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

  it('passes page checks for the front door and an unknown address', async () => {
    await lookAt('front', `http://127.0.0.1:${server.port}/`);
    await lookAt('error-unknown-address', `http://127.0.0.1:${server.port}/nothing`);
  });

  it('leads from an unknown address to the sign-in page with only the keyboard', async () => {
    const page = await openPage(await openProfile(), `http://127.0.0.1:${server.port}/nothing`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Order a ride for somebody else' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/dashboard');
    expect(page.complaints).to.deep.equal([]);
  });

  for (const code of ['too_many_streams', 'internal', 'unavailable', 'payload_too_large', 'not_found'] as const) {
    it(`the error page of ${code} passes all page checks`, () =>
      lookAt(`error-${code}`, `http://127.0.0.1:${server.port}/test/${code}`));
  }
});
