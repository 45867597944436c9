import { expect } from 'chai';
import type { Point } from '../../../shared/base/great-circle.ts';
import { routeRequests } from '../../../shared/base/metrics.ts';
import { askRoute, fetchRoute, routeUrl } from '../../../shared/outbound/ask-route.ts';
import { readRoute } from '../../../shared/outbound/route-answer.ts';
import { decodeLine, encodeLine, lengthKm, nearestOn, pathAlong } from '../../../shared/rides/path.ts';
import { withLogLines } from '../../support/log-lines.ts';
import { answerJson, answerWithRoad, cornerRoad, routeAnswer, useRouter } from '../../support/router.ts';
import { testConfig, useTestContext } from '../../support/service.ts';

const from = { lat: 57.699421234, lng: 11.953011234 };
const to = { lat: 57.7077, lng: 11.93847 };
const road = cornerRoad(from, to);
const answer = (changes?: object) => routeAnswer(road, changes);
const snapped = (metres: unknown) => ({ ...answer(), waypoints: [{ distance: 2 }, { distance: metres }] });
const moved = (line: readonly Point[], north: number) => line.map(({ lat, lng }) => ({ lat: lat + north, lng }));

describe('the routing server', () => {
  const router = useRouter();
  const ctx = useTestContext();
  const base = () => `${router.origin}/route/v1/driving/?access_token=t%2F1`;
  beforeEach(() => {
    router.asked.length = 0;
    router.answerWith(answerWithRoad);
  });

  it('gets the two points with 5 decimals, and the query of the setting, and nothing else', async () => {
    await fetchRoute(base(), from, to);
    const [request] = router.asked;
    expect(`${request?.url.pathname}${request?.url.search}`).to.equal(
      '/route/v1/driving/11.95301,57.69942;11.93847,57.70770?access_token=t%2F1&overview=full&geometries=polyline6&radiuses=500;500',
    );
    expect(`${routeUrl('https://osrm.example/route/v1/driving', to, to)}`).to.equal(
      'https://osrm.example/route/v1/driving/11.93847,57.70770;11.93847,57.70770?overview=full&geometries=polyline6&radiuses=500;500',
    );
  });

  it('a plausible answer gives its length, its duration and its line', () => {
    const found = readRoute(answer(), from, to);
    if (typeof found === 'string') throw new Error(found);
    expect(found.km).to.be.closeTo(lengthKm(pathAlong(road)), 0.001);
    expect(found.seconds).to.be.closeTo((found.km / 40) * 3_600, 0.1);
    const line = pathAlong(decodeLine(found.line) ?? []);
    for (const point of road) expect(nearestOn(line, point).offKm).to.be.below(0.0031);
  });

  it('a line of any length is stored with at most 4 kB, near to its points', () => {
    const far = { lat: 59.33, lng: 18.06 };
    const bends = cornerRoad(from, far, 10_000).map(({ lat, lng }, index) => ({
      lat: lat + 0.01 * Math.sin(index / 99),
      lng,
    }));
    const found = readRoute(routeAnswer([from, ...bends, far]), from, far);
    if (typeof found === 'string') throw new Error(found);
    expect(found.line.length).to.be.within(1_000, 4_096);
    const line = pathAlong(decodeLine(found.line) ?? []);
    for (const point of bends) expect(nearestOn(line, point).offKm).to.be.below(0.1);
  }).timeout(20_000);

  it('a ride across a river may be many times longer than the great circle, because it is short', () => {
    const around = cornerRoad(cornerRoad(from, { lat: 57.675, lng: 11.935 }).at(-1) ?? from, to);
    const detour = [...cornerRoad(from, { lat: 57.675, lng: 11.935 }), ...around];
    expect(lengthKm(pathAlong(detour))).to.be.above(5 * 1.26);
    expect(readRoute(routeAnswer(detour), from, to)).to.be.an('object');
  });

  for (const [title, wrong] of [
    ['snapped a point over 500 m away', snapped(501)],
    ['does not say how far it snapped a point', snapped(null)],
    ['drives over 130 km/h', answer({ duration: 40 })],
    ['drives in no time', answer({ duration: 0 })],
    ['is shorter than the great circle', answer({ distance: 700 })],
    ['is over five times longer than the great circle', answer({ distance: 16_000, duration: 3_000 })],
    ['has a line that is longer than its length', answer({ geometry: encodeLine([...road, ...road]) })],
    ['has a line that ends elsewhere', answer({ geometry: encodeLine(road.slice(0, 4)) })],
    ['has a line elsewhere', answer({ geometry: encodeLine(moved(road, 0.02)) })],
    ['has a line of one point', answer({ geometry: encodeLine([from]) })],
  ] as const) {
    it(`a way that ${title} is not used`, () => {
      expect(readRoute(wrong, from, to)).to.equal('implausible');
    });
  }

  for (const code of ['NoRoute', 'NoSegment']) {
    it(`${code} with status 400 is an answer`, async () => {
      router.answerWith(answerJson({ code, message: 'Impossible route between points' }, 400));
      expect(await fetchRoute(base(), from, to)).to.equal('no_route');
    });
  }

  for (const [title, listener] of [
    ['no JSON', (_, response) => void response.end('<html>')],
    [
      'NaN',
      (_, response) => void response.end(JSON.stringify(answer()).replace(/"distance":[\d.]+/, '"distance":NaN')),
    ],
    ['null instead of a length', answerJson(answer({ distance: null }))],
    ['a negative duration', answerJson(answer({ duration: -1 }))],
    ['a line that is none', answerJson(answer({ geometry: 'é' }))],
    ['a line without points', answerJson(answer({ geometry: '' }))],
    ['GeoJSON', answerJson(answer({ geometry: { coordinates: [] } }))],
    ['no routes', answerJson({ code: 'Ok', routes: [] })],
    ['another code', answerJson({ code: 'InvalidQuery' }, 400)],
    ['null', answerJson(null)],
    ['a redirect', (_, response) => void response.writeHead(302, { Location: '/other' }).end()],
    ['status 500', answerJson({}, 500)],
    ['10 MB', answerJson({ ...answer(), padding: 'x'.repeat(10_000_000) })],
    ['nothing', (request) => void request.socket.destroy()],
  ] as [string, Parameters<typeof router.answerWith>[0]][]) {
    it(`${title} is a failure, in which nothing else is asked`, async () => {
      router.answerWith(listener);
      const failure = await fetchRoute(base(), from, to).then(() => 'none', String);
      expect(failure)
        .to.match(/^(FetchError|NoAnswerError)/)
        .and.not.match(/127\.0|11\.9|access_token/);
      expect(router.asked).to.have.length(1);
    });
  }

  it('after five failures in a row, a process asks nothing for a minute, and says so once without an address', async () => {
    router.answerWith(answerJson({}, 503));
    const config = testConfig({ ROUTING_URL: base(), ROUTING_DURATION_FACTOR: '1.5' });
    const { ctx: logged, lines } = withLogLines({ ...ctx, config });
    const ask = () => askRoute(logged, from, to);
    for (let time = 0; time < 4; time++) expect(await ask()).to.equal(null);
    router.answerWith(answerWithRoad);
    expect((await ask())?.seconds).to.be.closeTo((1.5 * lengthKm(pathAlong(road)) * 3_600) / 40, 1);
    router.answerWith(answerJson({}, 503));
    for (let time = 0; time < 7; time++) expect(await ask()).to.equal(null);
    router.answerWith(answerWithRoad);
    expect(await ask()).to.equal(null);
    expect(router.asked).to.have.length(10);
    const warnings = lines.filter(({ level }) => level === 40);
    expect(warnings.map(({ msg }) => msg)).to.deep.equal(['routing rests for a minute after five failures in a row']);
    expect(JSON.stringify(lines)).not.to.match(/11\.9|access_token|127\.0/);
    const { values } = await routeRequests.get();
    expect(values.map(({ labels }) => labels.outcome)).to.include.members(['road', 'failed', 'rests']);
  });
});
