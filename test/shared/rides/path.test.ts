import { expect } from 'chai';
import fc from 'fast-check';
import { haversineKm } from '../../../shared/base/great-circle.ts';
import {
  decodeLine,
  encodeLine,
  lengthKm,
  nearestOn,
  pathAlong,
  pointAlong,
  restAfter,
  simplified,
} from '../../../shared/rides/path.ts';

const lat = fc.integer({ min: -90e6, max: 90e6 }).map((micro) => micro / 1e6);
const lng = fc.integer({ min: -180e6, max: 180e6 }).map((micro) => micro / 1e6);
const anyLine = fc.array(fc.record({ lat, lng }), { maxLength: 20 });
/** A line in a town: steps of up to 500 m. */
const townLine = fc
  .array(fc.tuple(fc.integer({ min: -4_000, max: 4_000 }), fc.integer({ min: -4_000, max: 4_000 })), {
    minLength: 1,
    maxLength: 60,
  })
  .map((steps) => {
    const points = [{ lat: 57.7, lng: 11.95 }];
    for (const [north, east] of steps) {
      const last = points.at(-1) ?? { lat: 0, lng: 0 };
      points.push({ lat: last.lat + north / 1e6, lng: last.lng + east / 1e6 });
    }
    return points;
  });

describe('the line of a route', () => {
  it('an encoded line is read back exactly, and equals that of the published example', () => {
    fc.assert(fc.property(anyLine, (line) => void expect(decodeLine(encodeLine(line))).to.deep.equal(line)));
    // The example of the format's documentation, with 6 instead of 5 decimals.
    const points = [
      { lat: 3.85, lng: -12.02 },
      { lat: 4.07, lng: -12.095 },
      { lat: 4.3252, lng: -12.6453 },
    ];
    expect(encodeLine(points)).to.equal('_p~iF~ps|U_ulLnnqC_mqNvxq`@');
  });

  it('a text that is no line, or leaves the earth, gives no line', () => {
    for (const text of ['_', 'é', '_p~iF', '~'.repeat(40), encodeLine([{ lat: 91, lng: 0 }])]) {
      expect(decodeLine(text), text).to.equal(null);
    }
    fc.assert(fc.property(fc.string(), (text) => void decodeLine(text)));
  });

  it('a simplified line keeps its ends, and every removed point is within the accuracy of it', () => {
    fc.assert(
      fc.property(townLine, fc.integer({ min: 1, max: 200 }), (line, metres) => {
        const short = simplified(line, metres);
        expect([short[0], short.at(-1)]).to.deep.equal([line[0], line.at(-1)]);
        for (const point of line) expect(nearestOn(pathAlong(short), point).offKm).to.be.at.most(metres / 1_000 + 1e-4);
      }),
    );
  });

  it('a place on a line is as far along it as it was asked for, and is found again', () => {
    fc.assert(
      fc.property(townLine, fc.double({ min: 0, max: 1, noNaN: true }), (line, share) => {
        const path = pathAlong(line);
        const km = share * lengthKm(path);
        const { at } = pointAlong(path, km);
        const found = nearestOn(path, at);
        expect(found.offKm).to.be.below(0.001);
        const rest = restAfter(path, km, at);
        expect(lengthKm(rest)).to.be.closeTo(lengthKm(path) - km, 0.002);
      }),
    );
  });

  it('a line across the date line has places on both sides of it', () => {
    const path = pathAlong([
      { lat: 0, lng: 179.9 },
      { lat: 0, lng: -179.9 },
    ]);
    const { at } = pointAlong(path, lengthKm(path) * 0.75);
    expect(at.lng).to.be.closeTo(-179.95, 1e-6);
    expect(haversineKm(at, { lat: 0, lng: -179.95 })).to.be.below(0.001);
    expect(nearestOn(path, { lat: 0.001, lng: 180 }).offKm).to.be.closeTo(0.111, 0.001);
  });
});
