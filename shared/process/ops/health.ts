import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError, describeError } from '../../base/errors.ts';
import type { Logger } from '../../base/logger.ts';
import { RedisProblem } from '../../base/redis-problem.ts';
import { version } from '../../base/version.ts';

export const healthPaths: readonly string[] = ['/healthz', '/readyz'];

/** Rejects while the process is not ready. It must limit its own time, because the caller does not. */
export type ReadinessCheck = () => Promise<unknown>;

const checkIntervalMs = 1_000;

/**
 * Answers load balancers, without a key: `/healthz` confirms that the process runs and names its version, `/readyz`
 * answers 503 while a check rejects. If Redis has a problem, the answer names it. Each check runs at most once in 1,000
 * ms, and requests that arrive while it runs share its result. Never rejects.
 */
export function healthListener(
  checks: Readonly<Record<string, ReadinessCheck>>,
  log: Logger,
): (request: IncomingMessage, response: ServerResponse) => Promise<void> {
  const results = Object.entries(checks).map(([name, check]) => sharedResult(name, check, log));

  return async (request, response) => {
    const path = pathOf(request.url);
    if (!healthPaths.includes(path)) sendError(response, new AppError('not_found'));
    else if (request.method !== 'GET' && request.method !== 'HEAD') {
      sendError(response, new AppError('method_not_allowed', { headers: { Allow: 'HEAD, GET' } }));
    } else if (path === '/healthz') send(response, 200, { status: 'ok', version });
    else {
      const failures = (await Promise.all(results.map((readResult) => readResult()))).flatMap((failed) => failed ?? []);
      const message = failures.find((error) => error instanceof RedisProblem)?.message;
      if (failures.length === 0) send(response, 200, { status: 'ready' });
      else sendError(response, new AppError('unavailable', { message, headers: { 'Retry-After': '1' } }));
    }
  };
}

/** The path of a request target, which may begin with scheme and host (RFC 9112, section 3.2.2). */
export const pathOf = (target = ''): string => /^(?:https?:\/\/[^/?#]*)?([^?#]*)/i.exec(target)?.[1] ?? '';

/** Checks at most once per interval, and never twice at a time. Resolves with the error of a failed check. */
function sharedResult(name: string, check: ReadinessCheck, log: Logger): () => Promise<Error | null> {
  let latest: Promise<Error | null> | undefined;
  let nextAt = 0;

  async function run(): Promise<Error | null> {
    const startedAt = performance.now();
    nextAt = Number.POSITIVE_INFINITY;
    try {
      await check();
      return null;
    } catch (error) {
      log.error({ check: name, error: describeError(error) }, 'not ready');
      return error instanceof Error ? error : new Error(name);
    } finally {
      nextAt = startedAt + checkIntervalMs;
    }
  }

  return () => {
    if (!latest || performance.now() >= nextAt) latest = run();
    return latest;
  };
}

const sendError = (response: ServerResponse, { status, headers, message }: AppError): void =>
  send(response, status, { error: message }, headers);

function send(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}
