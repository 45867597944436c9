import { execFile } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { libraryDirs, unpackedPackages } from '../../dev/servers/debian-packages.ts';
import { isArea, type Street } from '../../dev/streets/street-file.ts';
import type { Point } from '../../shared/base/great-circle.ts';

const run = promisify(execFile);
const cache = path.join(import.meta.dirname, '../../.cache/valhalla-3.6.1');
const engine = path.join(cache, 'node_modules/@valhallajs/valhallajs');

/** The answer of an OSRM server. */
export interface OsrmAnswer {
  code: string;
  routes: { distance: number; duration: number }[];
  waypoints: { distance: number }[];
}

export type Engine = (from: Point, to: Point) => Promise<OsrmAnswer>;

/**
 * The routing engine Valhalla over the given streets, in this process. Installs it in the project's cache (280 MB), and
 * Debian's osmium-tool too. `folder` gets its tiles.
 */
export async function startValhalla(streets: readonly Street[], folder: string): Promise<Engine> {
  await fs.access(engine).catch(install);
  const { Actor, getConfig } = await import(pathToFileURL(path.join(engine, 'index.mjs')).href);
  const config = await getConfig({ tileDir: path.join(folder, 'tiles') });
  const configFile = path.join(folder, 'valhalla.json');
  await fs.writeFile(configFile, JSON.stringify(config));
  const command = path.join(engine, 'bin/valhalla-cli.js');
  // It also writes files into the current folder.
  const pbf = await packed(streets, folder);
  await run(process.execPath, [command, 'build_tiles', '-c', configFile, pbf], { cwd: folder });
  const actor = await Actor.fromConfigFile(configFile);
  return async (from, to) => {
    const locations = [from, to].map(({ lat, lng }) => ({ lat, lon: lng }));
    return actor.route({ locations, costing: 'auto', format: 'osrm', shape_format: 'polyline6' });
  };
}

async function install(): Promise<void> {
  console.error('installing Valhalla into .cache/ (280 MB)');
  await fs.mkdir(cache, { recursive: true });
  const options = ['--no-save', '--no-audit', '--no-fund', '--prefix', cache];
  await run('npm', ['install', ...options, '@valhallajs/valhallajs@3.6.1']);
}

/** Writes the streets as OpenStreetMap data, in the format that Valhalla reads. */
async function packed(streets: readonly Street[], folder: string): Promise<string> {
  const [xml, pbf] = [path.join(folder, 'streets.osm'), path.join(folder, 'streets.osm.pbf')];
  await fs.writeFile(xml, osmXml(streets));
  const osmium = await unpackedPackages(['osmium-tool']);
  await run(path.join(osmium, 'usr/bin/osmium'), ['cat', xml, '-o', pbf], {
    env: { ...process.env, LD_LIBRARY_PATH: libraryDirs(osmium).join(':') },
  });
  return pbf;
}

function osmXml(streets: readonly Street[]): string {
  const ids = new Map<string, number>();
  const nodes: string[] = [];
  const idOf = ({ lat, lng }: Point) => {
    const key = `${lat} ${lng}`;
    if (!ids.has(key)) {
      ids.set(key, ids.size + 1);
      nodes.push(`<node id="${ids.size}" version="1" lat="${lat}" lon="${lng}"/>`);
    }
    return ids.get(key);
  };
  const ways = streets
    .filter((street) => !isArea(street))
    .map(({ kind, isOneWay, limit, level, shape }, index) => {
      const tags = Object.entries({ highway: kind, oneway: isOneWay ? 'yes' : 'no', maxspeed: limit });
      if (level) tags.push([level, 'yes']);
      return [
        `<way id="${index + 1}" version="1">`,
        ...shape.map((point) => `<nd ref="${idOf(point)}"/>`),
        ...tags.filter(([, value]) => value).map(([key, value]) => `<tag k="${key}" v="${value}"/>`),
        '</way>',
      ].join('');
    });
  return ['<osm version="0.6">', ...nodes, ...ways, '</osm>'].join('\n');
}
