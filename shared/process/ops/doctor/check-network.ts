import dns from 'node:dns/promises';
import { once } from 'node:events';
import fs, { open } from 'node:fs/promises';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP } from 'node:net';
import { buffer } from 'node:stream/consumers';
import tls from 'node:tls';
import type { Config } from '../../../base/config.ts';
import { isTileFile } from '../../../base/tiles.ts';
import { fetchRoute } from '../../../outbound/ask-route.ts';
import { codeOf, type Finding, finding, type Outcome, ok, red, skipped, stepLimitMs } from './findings.ts';

/** Trusted certificates besides those of Node. Only tests set it. */
export interface Trust {
  ca?: string;
}

/** The host of an address, an IPv6 address without its brackets. */
export const hostOf = (address: string): string => new URL(address).hostname.replace(/^\[(.*)\]$/, '$1');

/** Resolves the names in these addresses. */
export function checkDns(addresses: readonly string[]): Promise<Finding> {
  const todo = "Check the host's name servers (/etc/resolv.conf) and the DNS record.";
  return finding('DNS', todo, async () => {
    const names = [...new Set(addresses.map(hostOf))].filter((name) => !isIP(name));
    if (names.length === 0) return skipped('no name to resolve');
    const failed: string[] = [];
    await Promise.all(names.map((name) => dns.lookup(name).catch((error) => failed.push(`${name}: ${codeOf(error)}`))));
    return failed.length > 0 ? red(failed.join(', '), todo) : ok(`resolves ${names.join(', ')}`);
  });
}

/** Sends a HEAD request to an address that the operator names. Any answer is fine. */
export function checkHttps(target: string | undefined, { ca }: Trust = {}): Promise<Finding> {
  const todo = 'Allow outgoing connections to port 443, and install the CA certificates (ca-certificates).';
  return finding('outgoing HTTPS', todo, async () => {
    if (!target) return skipped('name an address with --https-target');
    return new Promise<Outcome>((resolve) => {
      const request = https.request(target, { method: 'HEAD', timeout: stepLimitMs, agent: false, ca }, (answer) => {
        answer.resume();
        resolve(ok(`${hostOf(target)} answers ${answer.statusCode}`));
        request.destroy();
      });
      request.on('timeout', () => request.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
      request.on('error', (error) => resolve(red(`${hostOf(target)}: ${codeOf(error)}`, todo)));
      request.end();
    });
  });
}

const renewDays = 14;
const dayMs = 86_400_000;

/** The certificate that the service's public address shows. */
export function checkCertificate(publicUrl: string, nowMs: number, { ca }: Trust = {}): Promise<Finding> {
  const todo = "Look at the proxy's log (Caddy renews certificates 30 days before they expire).";
  return finding('certificate', todo, async () => {
    if (!publicUrl.startsWith('https:')) return skipped('PUBLIC_BASE_URL is not an https address');
    const { port } = new URL(publicUrl);
    const host = hostOf(publicUrl);
    return new Promise<Outcome>((resolve) => {
      const name = isIP(host) ? {} : { servername: host };
      const options = { host, port: Number(port || 443), rejectUnauthorized: false, timeout: stepLimitMs, ca, ...name };
      const socket = tls.connect(options, () => {
        const { valid_to: until } = socket.getPeerCertificate();
        const days = Math.floor((Date.parse(until) - nowMs) / dayMs);
        const problem = socket.authorized ? null : String(socket.authorizationError);
        socket.destroy();
        const found = `${days < 0 ? 'expired' : `expires in ${days} days`}${problem ? `, ${problem}` : ''}`;
        resolve(problem || days < renewDays ? red(found, todo) : ok(found));
      });
      socket.on('timeout', () => socket.destroy(Object.assign(new Error('timeout'), { code: 'ETIMEDOUT' })));
      socket.on('error', (error) => resolve(red(`${host}: ${codeOf(error)}`, todo)));
    });
  });
}

/** Signs in to the mail server, and sends nothing. */
export async function checkMail({ secrets, environment }: Pick<Config, 'secrets' | 'environment'>): Promise<Finding> {
  const todo = 'Check SMTP_URL: host, port, user and password, and whether the firewall allows this port.';
  // Loaded before the check, whose time limit is for the mail server.
  const { createTransport } = await import('nodemailer');
  return finding('mail', todo, async () => {
    if (!secrets.smtpUrl && environment === 'development')
      return skipped('SMTP_URL is not set: mails are shown at /dev/mail');
    if (!secrets.smtpUrl) return skipped('SMTP_URL is not set: nobody can sign in to the dashboard');
    const transport = createTransport({
      url: secrets.smtpUrl,
      ...(environment === 'production' && new URL(secrets.smtpUrl).password !== '' && { requireTLS: true }),
      ...{ dnsTimeout: stepLimitMs, connectionTimeout: stepLimitMs, greetingTimeout: stepLimitMs },
      socketTimeout: stepLimitMs,
    });
    try {
      await transport.verify();
      return ok('the mail server accepts us');
    } finally {
      transport.close();
    }
  });
}

/** Asks the routing server for a way of 100 m. Any answer of a routing server is fine, because it may not know the place. */
export function checkRouting({ secrets }: Pick<Config, 'secrets'>): Promise<Finding> {
  const todo = 'Check ROUTING_URL, and whether the firewall allows this address. Rides continue without roads.';
  return finding('routing', todo, async () => {
    if (!secrets.routingUrl) return skipped('ROUTING_URL is not set: arrivals are estimates');
    const found = await fetchRoute(secrets.routingUrl, { lat: 0, lng: 0 }, { lat: 0.001, lng: 0 });
    return ok(typeof found === 'string' ? 'the routing server answers' : 'the routing server knows roads');
  });
}

const leastFree = { bytes: 1_000_000_000, share: 0.1 };

/** The free space on the disk of a folder. */
export function checkDisk(folder: string): Promise<Finding> {
  const todo = 'Delete old backups and logs, or enlarge the disk.';
  return finding('disk', todo, async () => {
    const { bavail, blocks, bsize } = await fs.statfs(folder);
    const free = bavail * bsize;
    const found = `${(free / 1e9).toFixed(1)} GB free (${Math.round((100 * bavail) / blocks)} %) at ${folder}`;
    return free < leastFree.bytes || bavail / blocks < leastFree.share ? red(found, todo) : ok(found);
  });
}

/** The length of the header of a PMTiles archive (docs.protomaps.com/pmtiles). */
const headerBytes = 127;
const vectorTiles = 1;

/**
 * Reads the head of the file of tiles where the API reads it, on the disk, or as a page does, at its address. Says which
 * area and zooms it has.
 */
export function checkTiles({ tiles, trackBaseUrl }: Pick<Config, 'tiles' | 'trackBaseUrl'>): Promise<Finding> {
  const todo = tiles?.file
    ? "Check TILE_URL, and that the API's user can read the file. Run this command where the API runs. Maps are plain without it."
    : 'Check TILE_URL, and that its server answers ranges and permits requests from our pages (CORS). Maps are plain without it.';
  return finding('map tiles', todo, async () => {
    if (!tiles) return skipped('TILE_URL is not set: maps are plain');
    if (!isTileFile(tiles.url)) return skipped('TILE_URL is a template of images, which the browsers load');
    const head = tiles.file ? await headOnDisk(tiles.file) : await headAt(tiles.url, new URL(trackBaseUrl).origin);
    return typeof head === 'string' ? red(head, todo) : regionIn(head, todo);
  });
}

async function headOnDisk(file: string): Promise<Buffer> {
  const handle = await open(file);
  try {
    const { buffer: head, bytesRead } = await handle.read(Buffer.alloc(headerBytes), 0, headerBytes, 0);
    return head.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

/** The head of the file, or why a page of this origin cannot read it. */
async function headAt(url: string, origin: string): Promise<Buffer | string> {
  const headers = { range: `bytes=0-${headerBytes - 1}`, origin };
  const { get } = url.startsWith('https:') ? https : http;
  const request = get(url, { headers, agent: false, signal: AbortSignal.timeout(stepLimitMs) });
  try {
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    const { statusCode: status, headers: given } = answer;
    const permitted = given['access-control-allow-origin'];
    if (status === 200) return 'the server answers no ranges';
    if (status !== 206) return `the server answers ${status}`;
    if (permitted !== '*' && permitted !== origin) return `the server permits no requests from ${origin} (CORS)`;
    return await buffer(answer);
  } finally {
    request.destroy();
  }
}

function regionIn(head: Buffer, todo: string): Outcome {
  const isArchive = head.length >= headerBytes && head.toString('latin1', 0, 7) === 'PMTiles';
  if (!isArchive) return red('not a PMTiles file', todo);
  const [version, kind, minZoom, maxZoom] = [7, 99, 100, 101].map((at) => head.readUInt8(at));
  if (version !== 3) return red(`PMTiles version ${version}, where the maps read version 3`, todo);
  if (kind !== vectorTiles) return red('its tiles are images, where the maps draw vector tiles', todo);
  const [west, south, east, north] = [102, 106, 110, 114].map((at) => (head.readInt32LE(at) / 1e7).toFixed(2));
  return ok(`streets from ${south}, ${west} to ${north}, ${east} at the zooms ${minZoom} to ${maxZoom}`);
}
