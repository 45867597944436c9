import { readValidSettings } from '../../../base/config.ts';
import {
  checkCertificate,
  checkDisk,
  checkDns,
  checkHttps,
  checkMail,
  checkRouting,
  checkTiles,
  type Trust,
} from './check-network.ts';
import { checkMongo, checkRedis } from './check-servers.ts';
import { type Finding, ok, red } from './findings.ts';

export interface Examination extends Trust {
  /** An address that outgoing HTTPS is tried with. Without it, no address outside the settings is contacted. */
  httpsTarget?: string;
  /** A folder on the disk to check. */
  disk: string;
}

/**
 * Examines settings, servers and network, each check within 3 s and independent of the others. Never rejects. Contacts
 * only the addresses in the settings and the given target.
 */
export async function examine(
  env: NodeJS.ProcessEnv | undefined,
  { httpsTarget, disk, ...trust }: Examination,
): Promise<Finding[]> {
  const { config, problems } = readValidSettings(env);
  const { secrets, publicBaseUrl } = config;
  const fix = 'Correct these settings: docs/settings.md describes them.';
  const settings = { check: 'settings', ...(problems.length > 0 ? red(problems.join('; '), fix) : ok('all valid')) };
  const isHttps = publicBaseUrl.startsWith('https:');
  const [mongo, redis, ...others] = await Promise.all([
    checkMongo(secrets.mongoUrl, secrets.keys),
    checkRedis(secrets.redisUrl),
    checkDns([...(isHttps ? [publicBaseUrl] : []), ...(httpsTarget ? [httpsTarget] : [])]),
    checkHttps(httpsTarget, trust),
    checkCertificate(publicBaseUrl, Date.now(), trust),
    checkMail(config),
    checkRouting(config),
    checkTiles(config),
    checkDisk(disk),
  ]);
  return [settings, ...mongo, ...redis, ...others];
}
