import fs from 'node:fs/promises';
import { expect } from 'chai';
import { PMTiles, type Source } from 'pmtiles';
import { createRoadNetwork } from '../../dev/streets/road-network.ts';
import { type RoutingServer, startRoutingServer } from '../../dev/streets/routing-server.ts';
import type { Street } from '../../dev/streets/street-file.ts';
import { joined, streetTiles } from '../../dev/streets/street-tiles.ts';
import { haversineKm, type Point } from '../../shared/base/great-circle.ts';
import { decodeLine } from '../../shared/rides/path.ts';

const jarntorget = { lat: 57.6998, lng: 11.9528 };
const lindholmen = { lat: 57.7074, lng: 11.9385 };

describe('the routing server of the development stack', () => {
  let server: RoutingServer;
  before(async () => {
    server = await startRoutingServer();
  });
  after(() => server.stop());

  async function ask(path: string) {
    const response = await fetch(server.url.replace('/route/v1/driving', '') + path);
    return { status: response.status, body: await response.json() };
  }
  const way = (from: Point, to: Point, options = 'overview=full&geometries=polyline6&radiuses=500;500') =>
    ask(`/route/v1/driving/${from.lng},${from.lat};${to.lng},${to.lat}?${options}`);

  for (const [from, to] of [
    [jarntorget, lindholmen],
    [lindholmen, jarntorget],
  ] as const) {
    it(`answers from ${from.lat} to ${to.lat} with the way across the river, as OSRM does`, async () => {
      const { status, body } = await way(from, to);
      const [route] = body.routes;
      const line = decodeLine(route.geometry) ?? [];
      const km = line.slice(1).reduce((sum, point, index) => sum + haversineKm(line[index] as Point, point), 0);
      expect({ status, code: body.code }).to.deep.equal({ status: 200, code: 'Ok' });
      expect(route.distance)
        .to.be.within(6_000, 9_000)
        .and.closeTo(km * 1_000, 10);
      expect(route.distance / route.duration).to.be.within(5, 20);
      expect(line[0]).to.deep.equal({ lng: body.waypoints[0].location[0], lat: body.waypoints[0].location[1] });
      expect(body.waypoints[1].distance).to.be.closeTo(haversineKm(to, line.at(-1) as Point) * 1_000, 0.2);
    });
  }

  it('answers with the place itself for two equal places', async () => {
    const { body } = await way(jarntorget, jarntorget);
    expect(body.routes[0]).to.include({ distance: 0, duration: 0 });
  });

  for (const [what, path, code] of [
    ['a place that is too far from a street', '/route/v1/driving/11.95,57.7;11.95,57.6?radiuses=500;500', 'NoSegment'],
    ['one place', '/route/v1/driving/11.95,57.7', 'InvalidUrl'],
    ['another path', '/%E0%A4%A', 'InvalidUrl'],
    ['a path that is no address', '//', 'InvalidUrl'],
    ['wrong radiuses', '/route/v1/driving/11.95,57.7;11.95,57.6?radiuses=a', 'InvalidOptions'],
    ['another format of the line', '/route/v1/driving/11.95,57.7;11.95,57.6?geometries=geojson', 'InvalidOptions'],
  ]) {
    it(`answers ${code} with status 400 for ${what}`, async () => {
      const { status, body } = await ask(path as string);
      expect({ status, code: body.code }).to.deep.equal({ status: 400, code });
    });
  }
});

describe('a road network', () => {
  const street = (isOneWay: boolean, ...shape: [lat: number, lng: number][]): Street => ({
    ...{ kind: 'residential', name: '', isOneWay },
    shape: shape.map(([lat, lng]) => ({ lat, lng })),
  });
  const block = [street(true, [0, 0], [0, 0.01]), street(false, [0, 0.01], [0.01, 0.005], [0, 0])];
  const away = street(false, [1, 1], [1, 1.01]);
  const network = createRoadNetwork([...block, away]);
  const kmBetween = (from: Point, to: Point) =>
    (network.route(network.snap(from), network.snap(to))?.metres ?? 0) / 1_000;

  it('drives along a one-way street in its direction, and around the block against it', () => {
    const [west, east] = [
      { lat: 0, lng: 0.002 },
      { lat: 0, lng: 0.008 },
    ];
    expect(kmBetween(west, east)).to.be.closeTo(0.67, 0.01);
    expect(kmBetween(east, west)).to.be.closeTo(0.22 + 2.49 + 0.22, 0.02);
  });

  it('finds no way to a street that is not connected', () => {
    const places = [network.snap({ lat: 0, lng: 0.002 }), network.snap({ lat: 1, lng: 1 })] as const;
    expect(network.route(...places)).to.equal(undefined);
  });
});

describe("the development stack's map", () => {
  it('has one line for the ways of a street that continue each other, in either direction', () => {
    const [a, b, c, d] = [0, 1, 2, 3].map((lng) => ({ lat: 0, lng })) as [Point, Point, Point, Point];
    const way = (name: string, ...shape: Point[]) => ({ kind: 'residential', name, isOneWay: false, shape });
    const lines = joined([way('Elm', a, b), way('Elm', d, c), way('Oak', b, c), way('', d, a), way('Elm', c, b)]);
    expect(lines.map(({ name, shape }) => [name, shape.length])).to.deep.equal([
      ['Oak', 2],
      ['', 2],
      ['Elm', 4],
    ]);
    expect(lines[2]?.shape).to.deep.equal([d, c, b, a]);
  });

  it('is a file of half a megabyte that a PMTiles reader can read, with roads as in the schema of Protomaps', async () => {
    const path = await streetTiles();
    const file = await fs.readFile(path);
    const source: Source = {
      getKey: () => path,
      getBytes: async (offset, length) => ({ data: new Uint8Array(file.subarray(offset, offset + length)).buffer }),
    };
    const archive = new PMTiles(source);
    const header = await archive.getHeader();
    expect(header).to.include({ specVersion: 3, minZoom: 10, maxZoom: 14, tileType: 1 });
    expect(header.minLon).to.be.below(11.88);
    expect(file.length).to.be.within(300_000, 700_000);
    // The tile at the zoom 14 with Järntorget.
    const tile = await archive.getZxy(14, 8735, 4960);
    const text = new TextDecoder().decode(tile?.data);
    for (const part of ['earth', 'water', 'roads', 'kind', 'minor_road', 'major_road', 'Första Långgatan']) {
      expect(text).to.include(part);
    }
    expect(await archive.getMetadata()).to.include({ attribution: '© OpenStreetMap contributors' });
    expect(path).to.equal(await streetTiles());
  });
});
