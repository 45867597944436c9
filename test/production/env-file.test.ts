import fs from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { temporaryFolder } from '../../dev/servers/temporary-folder.ts';
import { readConfig } from '../../shared/base/config.ts';
import { settings } from '../../shared/base/settings.ts';
import { composeConfig, everySetting, requiredSettings } from './compose.ts';
import { readByShell, readBySystemd } from './systemd.ts';

/** Compose sets these itself, because they describe its containers. The last one is only for development. */
const fixed = ['SERVICE_ENV', 'HOST', 'PORT', 'OPS_HOST', 'OPS_PORT', 'WEBHOOK_LOCAL_TARGETS'];
const schema = Object.keys(settings.describe().keys);

describe('the environment file', function () {
  this.timeout(120_000);

  /** The settings of all services, as Docker Compose reads them from the file. */
  async function readByCompose(text: string): Promise<Record<string, string>> {
    const folder = await temporaryFolder('environment');
    try {
      const envFile = path.join(folder, '.env');
      await fs.writeFile(envFile, text);
      const { services } = await composeConfig({}, { envFile });
      return Object.assign({}, ...Object.values(services).map(({ environment }) => environment));
    } finally {
      await fs.rm(folder, { recursive: true });
    }
  }

  it('a shell, systemd and Docker Compose read the same values from .env.example', async () => {
    const text = await everySetting();
    const byShell = await readByShell(text);
    expect(byShell.MAIL_FROM).to.equal('Rides <rides@rides.example>');
    expect(byShell.MONGO_URL).to.match(/\?replicaSet=rs0&authSource=admin$/);
    expect(await readBySystemd(text)).to.deep.include(byShell);
    const byCompose = await readByCompose(text);
    const { RIDES_VERSION: _, REDIS_PASSWORD, ...ofProcesses } = byShell;
    expect(byCompose).to.deep.include({ ...ofProcesses, REDISCLI_AUTH: REDIS_PASSWORD });
  });

  it('a shell, systemd and Docker Compose read the same values from single quotes, whatever these contain', async () => {
    const value = ' a & b < c > d | e; f # g "h" \\ (i) * ? ! ~ = {z}/{x} é ';
    const text = `${await everySetting()}TILE_ATTRIBUTION='${value}'\n`;
    for (const read of [readByShell, readBySystemd, readByCompose]) {
      expect((await read(text)).TILE_ATTRIBUTION, read.name).to.equal(value);
    }
  });

  it('the values of .env.example are valid settings', async () => {
    const config = readConfig(await readByShell(await everySetting()));
    expect(config.mailFrom).to.equal('Rides <rides@rides.example>');
    expect(config.tiles?.url).to.include('{z}');
  });

  it('every setting of the service reaches the containers from .env', async () => {
    const reached = await readByCompose(await everySetting());
    const missing = schema.filter((name) => !fixed.includes(name) && !(name in reached));
    expect(missing).to.deep.equal([]);
    const text = schema.map((name) => `${name}=from-env\n`).join('');
    const { API_DOMAIN, REDIS_PASSWORD } = requiredSettings;
    const given = await readByCompose(`API_DOMAIN=${API_DOMAIN}\nREDIS_PASSWORD=${REDIS_PASSWORD}\n${text}`);
    const ignored = schema.filter((name) => !fixed.includes(name) && given[name] !== 'from-env');
    expect(ignored).to.deep.equal([]);
  });
});
