import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { unpackedPackages } from '../../dev/servers/debian-packages.ts';

const root = path.join(import.meta.dirname, '..', '..');

/** A service in the output of `docker compose config`: with resolved variables and normalized durations and sizes. */
export interface ComposeService {
  image: string;
  build?: { args?: Record<string, string> };
  pull_policy?: string;
  command?: string[] | null;
  entrypoint?: string[] | null;
  profiles?: string[];
  environment?: Record<string, string>;
  networks: Record<string, unknown>;
  ports?: object[];
  /** In bytes. */
  mem_limit?: string;
  logging?: { options?: Record<string, string> };
  healthcheck?: { test: string[] };
  depends_on?: Record<string, { condition: string }>;
  user?: string;
  privileged?: boolean;
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  tmpfs?: string[];
  volumes?: { type: string; source: string; target: string; read_only?: boolean }[];
}

export interface Compose {
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean }>;
}

/** The project's .env.example, with every line that shows a value, and without the comments. */
export async function everySetting(): Promise<string> {
  const example = await fs.readFile(path.join(root, '.env.example'), 'utf8');
  const lines = [...example.matchAll(/^(?:# )?([A-Z_]+=.+)$/gm)].map(([, line]) => `${line}\n`);
  const required = Object.entries(requiredSettings).map(([name, value]) => `${name}=${value}\n`);
  return [...required, ...lines].join('');
}

/** The required settings of .env. */
export const requiredSettings = {
  API_DOMAIN: 'rides.example',
  SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
  REDIS_PASSWORD: 'a1b2c3d4',
};

/**
 * docker-compose.yml as Docker Compose reads it with these variables. Debian's version of Compose needs no Docker for
 * this. Rejects with its error message.
 */
export async function composeConfig(
  env: Record<string, string> = requiredSettings,
  { envFile = '/dev/null', override = '' } = {},
): Promise<Compose> {
  const folder = await unpackedPackages(['docker-compose'], { release: 'trixie' });
  const command = path.join(folder, 'usr/libexec/docker/cli-plugins/docker-compose');
  // Ignore the variables of this process and the .env of this checkout.
  const files = ['docker-compose.yml', override].flatMap((file) => (file ? ['-f', file] : []));
  const args = [...files, '--env-file', envFile, '--profile', 'commands', 'config', '--format', 'json'];
  const { stdout } = await promisify(execFile)(command, args, { cwd: root, env: { PATH: process.env.PATH, ...env } });
  return JSON.parse(stdout);
}
