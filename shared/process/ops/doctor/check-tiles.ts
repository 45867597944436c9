import { once } from 'node:events';
import { open } from 'node:fs/promises';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { buffer } from 'node:stream/consumers';
import type { Config } from '../../../base/config.ts';
import { isTileFile } from '../../../base/tiles.ts';
import { type Finding, finding, type Outcome, ok, red, skipped, stepLimitMs } from './findings.ts';

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
