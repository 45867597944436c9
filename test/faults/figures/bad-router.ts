import type { RequestListener } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { rides } from '../../../shared/rides/ride.ts';
import { hasEnded } from '../../../shared/rides/transitions.ts';
import { percentile } from '../../bench/statistics.ts';
import { startOperatorServer } from '../../support/operator-server.ts';
import { answerJson, answerWithRoad, cornerRoad, pointsIn, routeAnswer } from '../../support/router.ts';
import type { Figure } from '../figure.ts';
import type { World } from '../world/world.ts';
import { httpClient } from './http-client.ts';
import { inWorld, numbers } from './in-world.ts';

const pools = ['bidding', 'simulator', 'routing', 'webhooks'] as const;
/** Fewer than the contract's 30 creations a minute for each key. */
const ridesPerKey = 25;
const ridesPerSecond = 4;
const requestEveryMs = 25;
const mostSlowerMs = 5;
const mostGrownBytes = 40 * 2 ** 20;

const changed =
  (changes: object): RequestListener =>
  (request, response) =>
    answerJson(routeAnswer(cornerRoad(...pointsIn(request.url ?? '')), changes))(request, response);

/** Made once: the same process measures the requests. */
const tenMegabytes = Buffer.from(JSON.stringify({ code: 'Ok', routes: ['x'.repeat(10 * 2 ** 20)] }));

/** The wrong answers. Every fourth answer is right: after five failures in a row, routing would rest for a minute. */
const wrongAnswers = (elsewhere: string): Record<string, RequestListener> => ({
  none: () => {},
  'a closed connection': (request) => request.socket.destroy(),
  'another road': changed({ geometry: '_p~iF~ps|U_ulLnnqC_mqNvxq`@' }),
  'no numbers': changed({ distance: Number.NaN, duration: 'NaN' }),
  'a road of 1 m': changed({ distance: 1 }),
  '10 MB': (_, response) => void response.end(tenMegabytes),
  'a redirect': (_, response) => void response.writeHead(302, { Location: `${elsewhere}/trap` }).end(),
  'half of a JSON': (_, response) => void response.end('{"code":"Ok","routes":[{"geom'),
  'a page': (_, response) => void response.writeHead(502).end('<html>Bad gateway</html>'),
});

/** Test rides under way, while the routing server answers well and badly in turns. */
export const badRouter: Figure = {
  name: 'routing',
  goal: `requests at most ${mostSlowerMs} ms slower (p50 and p99), no process ends, memory grows by at most ${mostGrownBytes / 2 ** 20} MB`,
  async measure(run) {
    const turns = run.short ? 2 : 6;
    const seconds = run.short ? 6 : 20;
    const [router, elsewhere] = [await startOperatorServer(answerWithRoad), await startOperatorServer(answerJson({}))];
    const wrong = Object.values(wrongAnswers(elsewhere.origin));
    let asked = 0;
    const answerBadly: RequestListener = (request, response) => {
      asked += 1;
      const answer = asked % 4 === 0 ? answerWithRoad : wrong[asked % wrong.length];
      answer?.(request, response);
    };
    try {
      const settings = { ROUTING_URL: `${router.origin}/route/v1/driving`, LOG_LEVEL: 'warn' };
      const options = { build: run.build, settings, pools, copies: 1, apis: 1 };
      const { measured, crashes } = await inWorld(options, async (world) => {
        const times: Record<'well' | 'badly', number[]> = { well: [], badly: [] };
        const processes = [...world.apis, ...world.workers];
        await load(world, seconds, []);
        const before = processes.map((process) => process.residentBytes());
        for (const turn of numbers(turns)) {
          for (const how of turn % 2 === 0 ? (['well', 'badly'] as const) : (['badly', 'well'] as const)) {
            router.answerWith(how === 'well' ? answerWithRoad : answerBadly);
            await load(world, seconds, times[how]);
          }
        }
        const left = await world.quiet(60_000);
        const grown = processes.map((process, index) => process.residentBytes() - (before[index] ?? 0));
        const found = await rides.find({}, { projection: { status: 1 } }).toArray();
        return { times, left, names: processes.map(({ name }) => name), grown, found };
      });
      const { times, left, names, grown, found } = measured;
      const quantiles = ([0.5, 0.99] as const).map((share) => ({
        share,
        well: percentile(times.well, share),
        badly: percentile(times.badly, share),
      }));
      const words = quantiles.map(
        ({ share, well, badly }) => `p${share * 100} ${badly.toFixed(1)} and ${well.toFixed(1)} ms`,
      );
      return {
        reached:
          `${asked} wrong and right answers in turn: requests ${words.join(', ')} (badly and well), ${found.length} rides, ` +
          `memory at most ${(Math.max(...grown) / 2 ** 20).toFixed(1)} MB more`,
        violations: [
          ...crashes,
          ...quantiles
            .filter(({ well, badly }) => badly > well + mostSlowerMs)
            .map(({ share, well, badly }) => `p${share * 100}: ${badly.toFixed(1)} instead of ${well.toFixed(1)} ms`),
          ...(left > 0 ? [`${left} rides have open work`] : []),
          ...found.filter(({ status }) => !hasEnded(status)).map(({ _id, status }) => `${_id} is still ${status}`),
          ...(elsewhere.asked.length > 0 ? ['a redirect was followed'] : []),
          ...names.flatMap((name, index) =>
            (grown[index] ?? 0) > mostGrownBytes
              ? [`${name} grew by ${Math.round((grown[index] ?? 0) / 2 ** 20)} MB`]
              : [],
          ),
        ],
      };
    } finally {
      router.close();
      elsewhere.close();
    }
  },
};

/** Creates rides that a simulated driver drives, and reads them. Adds the time of each request in ms. */
async function load(world: World, seconds: number, times: number[]): Promise<void> {
  const client = httpClient(world.apis[0]?.url ?? '', 20);
  const asking: Promise<void>[] = [];
  const known: { rideId: string; key: string }[] = [];
  let key = '';
  const ask = async (number: number): Promise<void> => {
    const isCreation = number % (1_000 / requestEveryMs / ridesPerSecond) === 0;
    const { rideId, key: owner } = known[number % known.length] ?? { rideId: 'ride_x', key };
    const { status, text, startedAt, endedAt } = await client.request(
      isCreation
        ? { method: 'POST', path: '/v1/rides', key, body: { ...crossing, autoAccept: { maxPrice: 1_000 } } }
        : { path: number % 3 === 0 ? '/v1/rides' : `/v1/rides/${rideId}`, key: owner },
    );
    if (status >= 500) throw new Error(`a request was answered ${status}`);
    times.push(endedAt - startedAt);
    if (isCreation) known.push({ rideId: JSON.parse(text).rideId, key });
  };
  for (const number of numbers((seconds * 1_000) / requestEveryMs)) {
    if (number % ((1_000 / requestEveryMs / ridesPerSecond) * ridesPerKey) === 0) {
      key = (await world.newKey({ mode: 'test', manner: 'none' })).key;
    }
    asking.push(ask(number));
    await setTimeout(requestEveryMs);
  }
  await Promise.all(asking);
  client.close();
}

const crossing = { pickup: { lat: 57.7, lng: 11.95 }, destination: { lat: 57.707, lng: 11.94 }, fare: 25 };
