import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type OperatorTokens, operatorTokens } from '../../accounts/operator-token.ts';
import type { Context } from '../../base/context.ts';
import { ConfigError, describeError, errorCodeHeader, publicErrorOf } from '../../base/errors.ts';
import { registry } from '../../base/metrics.ts';
import { healthListener, pathOf, type ReadinessCheck } from './health.ts';
import { measureProcess } from './process-metrics.ts';
import { scraper } from './scrape.ts';

export interface OpsServer {
  port: number;
  close(): Promise<void>;
}

export interface OpsOptions {
  processName: string;
  /** The process is ready while all checks pass. */
  checks: Readonly<Record<string, ReadinessCheck>>;
  /** Runs before each scrape, to update gauges of this process. */
  beforeScrape?: () => void;
  /** Pages for operators. */
  pages?: { owns(path: string): boolean; listener: RequestListener };
}

const timeouts = { headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 30_000 };

/**
 * Serves `/healthz`, `/readyz` and `/metrics` of this process at OPS_HOST and OPS_PORT. Resolves with null if OPS_PORT
 * is unset. Throws ConfigError if it cannot listen there.
 */
export async function startOpsServer(
  ctx: Pick<Context, 'config' | 'log' | 'queues' | 'redis' | 'now'>,
  { processName, checks, beforeScrape, pages }: OpsOptions,
): Promise<OpsServer | null> {
  const { host, port: wanted } = ctx.config.ops;
  if (wanted === undefined) return null;
  measureProcess(processName);
  const health = healthListener(checks, ctx.log);
  const scrape = scraper(ctx);
  const tokens = operatorTokens(ctx.now);
  const metrics: RequestListener = async (request, response) => {
    try {
      if (ctx.config.ops.auth === 'personal' && !(await admit(request, response, tokens))) return;
      beforeScrape?.();
      const text = await scrape();
      response.writeHead(200, { 'Content-Type': registry.contentType }).end(text);
    } catch (error) {
      ctx.log.error({ error: describeError(error) }, 'metrics could not be collected');
      response.writeHead(500, { [errorCodeHeader]: publicErrorOf('internal').code }).end();
    }
  };
  const server = createServer(timeouts, (request, response) => {
    const path = pathOf(request.url);
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (path === '/metrics' && isRead) metrics(request, response);
    else if (pages?.owns(path)) pages.listener(request, response);
    else void health(request, response);
  });
  server.listen({ host, port: wanted });
  await once(server, 'listening').catch(({ code }: NodeJS.ErrnoException) => {
    throw new ConfigError(`Settings OPS_HOST and OPS_PORT: cannot listen on ${host}:${wanted} (${code})`);
  });
  const { port } = server.address() as AddressInfo;
  ctx.log.info({ host, port }, 'ops server listening');
  return {
    port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Answers a request for the metrics that has no valid personal token. Resolves with true if it has one. */
async function admit(request: IncomingMessage, response: ServerResponse, tokens: OperatorTokens): Promise<boolean> {
  const [, given] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? [];
  const checked = given ? await tokens.check(given, request.socket.remoteAddress ?? 'unknown', () => false) : 'wrong';
  if (checked === 'wrong') response.writeHead(401, { 'WWW-Authenticate': 'Bearer' }).end();
  else if (typeof checked === 'object' && 'tooMany' in checked) {
    response.writeHead(429, { 'Retry-After': String(Math.ceil(checked.tooMany / 1_000)) }).end();
  } else return true;
  return false;
}
