import { operatorsListener } from '../../api/app.ts';
import { pingMongo } from '../../shared/base/mongo/connect-mongo.ts';
import { startOpsServer } from '../../shared/process/ops/ops-server.ts';
import { testContext } from './service.ts';

export const opsToken = 'operators-token-of-the-tests';

export type TestOperators = Awaited<ReturnType<typeof startTestOperators>>;

/** The ops server of an API process, on a free port of loopback. */
export async function startTestOperators(settings: Record<string, string> = {}) {
  const ctx = await testContext({ OPS_PORT: '0', ...settings });
  const ops = await startOpsServer(ctx, {
    processName: 'api',
    checks: { mongo: pingMongo },
    pages: await operatorsListener(ctx),
  });
  const url = `http://127.0.0.1:${ops?.port}`;
  const ask = (path: string, init: RequestInit = {}) => fetch(url + path, { redirect: 'manual', ...init });
  return {
    ctx,
    url,
    /** Sends a request and does not follow redirects. */
    ask,
    /** Sends the form with this token. */
    signIn: (token: string) => ask('/ops', { method: 'POST', body: new URLSearchParams({ token }) }),
    async close() {
      await ops?.close();
      await ctx.close();
    },
  };
}

/** The cookie that a response sets, in the format in which a browser returns it. */
export const cookieOf = (answer: Response): string => answer.headers.get('set-cookie')?.split(';')[0] ?? '';
