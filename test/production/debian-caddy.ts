import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { unpackedPackages } from '../../dev/servers/debian-packages.ts';
import { freePort } from '../../dev/servers/ports.ts';
import { endChild, exitOf } from '../../dev/servers/processes.ts';
import { scaled } from '../support/machine-speed.ts';

const caddyfile = path.join(import.meta.dirname, '..', '..', 'Caddyfile');
const domain = 'rides.example';
const startMs = scaled(30_000);
const stopGraceMs = 15_000;

export interface ProxyRequest {
  scheme?: 'https' | 'http';
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

export interface ProxyAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert what they expect of a response.
  body: any;
}

export interface CaddyProxy {
  /** Sends one request on a new connection and reads the whole response. */
  ask(request: ProxyRequest): Promise<ProxyAnswer>;
  /** Sends one request and resolves with the response as soon as its headers have arrived. */
  open(request: ProxyRequest): Promise<http.IncomingMessage>;
  /** Everything that the proxy has logged so far. */
  log(): string;
  stop(): Promise<void>;
}

/** Debian's caddy from the release with the production version: Debian 12 and 13 have older ones. */
const caddyCommand = async () => path.join(await unpackedPackages(['caddy'], { release: 'forky' }), 'usr/bin/caddy');

/** The project's Caddyfile in production, converted to Caddy's JSON. */
export async function productionConfig(): Promise<string> {
  const env = { PATH: process.env.PATH, API_DOMAIN: domain };
  const args = ['adapt', '--config', caddyfile, '--adapter', 'caddyfile'];
  return (await promisify(execFile)(await caddyCommand(), args, { env })).stdout;
}

/**
 * Runs the project's Caddyfile on free ports of 127.0.0.1, with certificates of a local authority, in front of an API
 * on `apiPort`. Only environment variables differ from production.
 */
export async function startProxy(apiPort: number, env: Record<string, string> = {}): Promise<CaddyProxy> {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rides-caddy-'));
  const ports = { http: await freePort(), https: await freePort() };
  const options = [`http_port ${ports.http}`, `https_port ${ports.https}`, 'default_bind 127.0.0.1'];
  const child = spawn(await caddyCommand(), ['run', '--config', caddyfile, '--adapter', 'caddyfile'], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
      API_DOMAIN: domain,
      API_HOST: '127.0.0.1',
      API_PORT: String(apiPort),
      CADDY_GLOBAL_OPTIONS: [...options, 'local_certs', 'skip_install_trust'].join('\n'),
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  const exited = exitOf(child);
  void exited.then(() => process.removeListener('exit', kill));
  let log = '';
  child.stderr.on('data', (chunk) => {
    log += chunk;
  });

  const open = async ({ scheme = 'https', path: requestPath = '/', body, method, headers }: ProxyRequest) => {
    const options = { host: '127.0.0.1', port: ports[scheme], path: requestPath, method, agent: false } as const;
    const tls = {
      servername: domain,
      ca: await fs.readFile(path.join(folder, 'caddy/pki/authorities/local/root.crt')),
    };
    const all = { host: domain, ...headers };
    const request =
      scheme === 'https'
        ? https.request({ ...options, ...tls, headers: all })
        : http.request({ ...options, headers: all });
    // An error response may arrive before the whole body is sent. Then ignore the error of the request.
    const answered = once(request, 'response') as Promise<[http.IncomingMessage]>;
    request.end(body);
    const [response] = await answered;
    request.on('error', () => {});
    return response;
  };
  const ask = async (request: ProxyRequest): Promise<ProxyAnswer> => {
    const response = await open(request);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const isJson = response.headers['content-type']?.startsWith('application/json');
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      text,
      body: isJson ? JSON.parse(text) : undefined,
    };
  };
  const stop = async () => {
    await endChild(child, exited, stopGraceMs);
    await fs.rm(folder, { recursive: true, force: true });
  };

  // The proxy is ready as soon as its certificate exists.
  const serves = async () => {
    const deadline = Date.now() + startMs;
    for (;;) {
      const error = await ask({ path: '/readyz' }).then(
        () => undefined,
        (reason: Error) => reason,
      );
      if (!error) return undefined;
      if (child.exitCode !== null || Date.now() > deadline) return error.message;
      await sleep(50);
    }
  };
  const failure = await Promise.race([exited, serves()]);
  if (failure) {
    await stop();
    throw new Error(`caddy did not start (${failure}): ${log.trim().split('\n').at(-1)}`);
  }
  return { ask, open, log: () => log, stop };
}
