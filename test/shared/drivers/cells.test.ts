import { expect } from 'chai';
import fc from 'fast-check';
import { haversineKm, type Point } from '../../../shared/base/great-circle.ts';
import { cellsAt, zonesAround } from '../../../shared/drivers/cells.ts';
import { pointAt } from '../../../shared/rides/position.ts';

const anywhere = fc.record({
  lat: fc.oneof(
    fc.double({ min: -90, max: 90, noNaN: true }),
    fc.double({ min: 88, max: 90, noNaN: true }),
    fc.constantFrom(90, -90, 0),
  ),
  lng: fc.oneof(
    fc.double({ min: -180, max: 180, noNaN: true }),
    fc.double({ min: 179, max: 180, noNaN: true }),
    fc.constantFrom(180, -180, 0),
  ),
});

const ringsAround = (middle: Point, radiusKm: number) =>
  [...zonesAround(middle, radiusKm)].flatMap(({ rings }) => rings);

describe('cells', () => {
  for (const radiusKm of [0.1, 3, 6, 12, 100]) {
    it(`the cells of a circle of ${radiusKm} km cover each place in it, also at the poles and at 180 degrees`, () => {
      fc.assert(
        fc.property(
          anywhere,
          fc.double({ min: 0, max: 0.999, noNaN: true }),
          fc.integer({ min: 0, max: 359 }),
          (middle, share, heading) => {
            const place = pointAt(middle, radiusKm * share, heading);
            // Skips places outside of the circle: pointAt rounds, and stays a centimetre away from the poles.
            fc.pre(haversineKm(middle, place) <= radiusKm);
            const covered = new Set(ringsAround(middle, radiusKm).flat());
            expect(cellsAt(place).some((cell) => covered.has(cell))).to.equal(true);
          },
        ),
        { numRuns: radiusKm > 12 ? 100 : 300 },
      );
    });
  }

  it('a ring contains only cells of about its distance, and no cell is in two rings', () => {
    const middle = { lat: 40.7128, lng: -74.006 };
    const rings = ringsAround(middle, 12);
    const all = rings.flat();
    expect(new Set(all)).to.have.property('size', all.length);
    const ringOf = (km: number) => {
      const cells = cellsAt(pointAt(middle, km, 77));
      return rings.findIndex((ring) => ring.some((cell) => cells.includes(cell)));
    };
    const found = [0.05, 0.6, 1.2, 2.4, 5, 8, 11.5].map(ringOf);
    expect(found).to.deep.equal([...found].sort((a, b) => a - b));
    expect(found[0]).to.equal(0);
    expect(new Set(found)).to.have.property('size', found.length);
  });

  it('a circle of 12 km has at most 3 zones of 10 rings and 500 cells, anywhere on earth', () => {
    fc.assert(
      fc.property(anywhere, (middle) => {
        const zones = [...zonesAround(middle, 12)];
        expect(zones.length).to.be.at.most(3);
        for (const { rings } of zones) {
          expect(rings.length).to.be.at.most(10);
          expect(rings.flat().length).to.be.at.most(500);
        }
      }),
      { numRuns: 100 },
    );
  });

  it('cell ids are integers that MongoDB and JavaScript represent exactly', () => {
    fc.assert(
      fc.property(anywhere, (place) => {
        for (const cell of cellsAt(place)) expect(Number.isSafeInteger(cell) && cell >= 0).to.equal(true);
        expect(new Set(cellsAt(place))).to.have.property('size', cellsAt(place).length);
      }),
    );
  });
});
