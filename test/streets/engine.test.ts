import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { between, randomOf } from '../../dev/fleet/random.ts';
import { createRoadNetwork } from '../../dev/streets/road-network.ts';
import { readStreets } from '../../dev/streets/street-file.ts';
import { haversineKm, type Point } from '../../shared/base/great-circle.ts';
import { type Engine, startValhalla } from './valhalla.ts';

const pairs = 200;

describe('the routing server of the development stack, beside Valhalla over the same streets', () => {
  let folder: string;
  let engine: Engine;
  let network: ReturnType<typeof createRoadNetwork>;
  before(async () => {
    folder = await fs.mkdtemp(path.join(os.tmpdir(), 'rides-valhalla-'));
    const streets = await readStreets();
    network = createRoadNetwork(streets);
    engine = await startValhalla(streets, folder);
  });
  after(() => fs.rm(folder, { recursive: true, force: true }));

  it(`finds ways whose lengths differ by at most 15 % from the engine's at the median of ${pairs} pairs`, async () => {
    const random = randomOf('pairs');
    const onStreet = (): Point =>
      network.snap({ lat: between(random, 57.66, 57.75), lng: between(random, 11.88, 12.06) }).at;
    const lengths: number[] = [];
    const times: number[] = [];
    while (lengths.length < pairs) {
      const [from, to] = [onStreet(), onStreet()];
      if (haversineKm(from, to) < 1) continue;
      const ours = network.route(network.snap(from), network.snap(to));
      const { code, routes, waypoints } = await engine(from, to);
      expect({ code, far: waypoints.filter(({ distance }) => distance > 100) }).to.deep.equal({ code: 'Ok', far: [] });
      lengths.push((ours?.metres ?? 0) / (routes[0]?.distance ?? 0));
      times.push((ours?.seconds ?? 0) / (routes[0]?.duration ?? 0));
    }
    const off = lengths.map((ratio) => Math.abs(ratio - 1)).sort((a, b) => a - b);
    const percent = (share: number) => ((off[Math.floor(pairs * share)] as number) * 100).toFixed(1);
    const time = times.sort((a, b) => a - b)[pairs / 2]?.toFixed(2);
    console.log(`      lengths differ by ${percent(0.5)} % at the median, ${percent(0.9)} % at p90; times: ${time}`);
    expect(Number(percent(0.5))).to.be.at.most(15);
  });
});
