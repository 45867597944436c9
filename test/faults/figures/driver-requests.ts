import fc from 'fast-check';
import { createDriver } from '../../../shared/drivers/manage-drivers.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { type AnyRequest, anyRequestBytes, type Filling } from '../../support/any-request.ts';
import { person } from '../../support/drivers.ts';
import { gatewayRequest } from '../../support/gateway-requests.ts';
import { becomes } from '../../support/until.ts';
import type { Figure, FigureRun } from '../figure.ts';
import type { World } from '../world/world.ts';
import { type HttpAnswer, httpClient, NoAnswer } from './http-client.ts';
import { inWorld, numbers } from './in-world.ts';

const settings = { LOG_LEVEL: 'warn', BIDDING_TIMEOUT_MS: '120000' };
const batchSize = 100;
const driverCount = 20;
const place = { lat: 40.758, lng: -73.9855 };

export const driverRequests: Figure = {
  name: 'driver-requests',
  promise: 'No request breaks the drivers’ gateway',
  goal: '0 answers of 5xx or without { error } to 20,000 generated requests on every route, no process ends',
  async measure(run) {
    const count = run.short ? 2_000 : 20_000;
    const options = { build: run.build, settings, pools: ['bidding', 'dispatch'] as const, copies: 1 };
    const { measured, crashes } = await inWorld(options, (world) => sendAll(run, world, count));
    const { seen, failures, sent } = measured;
    const statuses = [...seen]
      .sort(([a], [b]) => a - b)
      .map(([status, times]) => `${status} ${times.toLocaleString('en')}`);
    const reached =
      `${failures.length} of ${sent.toLocaleString('en')} requests failed, over 2 API processes, seed ${run.seed}; answered ` +
      statuses.join(', ');
    return { reached, violations: [...failures, ...crashes] };
  },
};

async function sendAll(run: FigureRun, world: World, count: number) {
  const clients = world.apis.map(({ url }) => httpClient(url, batchSize / 2));
  const send = (index: number, bytes: string | Buffer, isHead = false): Promise<HttpAnswer> =>
    (clients[index % clients.length] as (typeof clients)[number]).send(bytes, { isHead });
  const drivers = await Promise.all(numbers(driverCount).map(() => createDriver(person)));
  const seen = new Map<number, number>();
  const failures: string[] = [];
  let sent = 0;

  async function tryOne(generated: AnyRequest, index: number, filling: Filling): Promise<string | undefined> {
    const isHead = generated.method === 'HEAD';
    try {
      const answer = await send(index, anyRequestBytes(generated, filling, 'keep-alive'), isHead);
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
      if (answer.status < 200 || answer.status > 499) return `answered ${answer.status}`;
      const isError = answer.status >= 400 && answer.text !== '';
      return isError && Object.keys(JSON.parse(answer.text)).join() !== 'error' ? `answered ${answer.text}` : undefined;
    } catch (error) {
      return error instanceof NoAnswer ? error.message : `the connection failed: ${(error as Error).name}`;
    }
  }

  const batch = fc.array(gatewayRequest, { minLength: batchSize, maxLength: batchSize });
  const property = fc.asyncProperty(batch, async (requests) => {
    const { key: partner } = await world.newKey({ mode: 'live', manner: 'none' });
    const online = { method: 'POST', path: '/drivers/v1/me/online', body: place };
    await Promise.all(drivers.map(({ key }) => clients[0]?.request({ ...online, key })));
    const body = { pickup: place, destination: { lat: 40.7, lng: -74 }, fare: 20 };
    const created = await clients[0]?.request({ method: 'POST', path: '/v1/rides', key: partner, body });
    const { rideId } = JSON.parse(created?.text ?? '');
    // After a timeout the gateway refuses offers, which is fine too.
    await becomes(async () => (await rides.countDocuments({ _id: rideId, 'asked.0': { $exists: true } })) > 0, 5_000);
    const problems = await Promise.all(
      requests.map((request, index) => {
        const KEY = drivers[index % drivers.length]?.key ?? '';
        return tryOne(request, index, { KEY, RIDE: rideId, OFFER: 'offer_x', CANARY: 'canary' });
      }),
    );
    sent += requests.length;
    if (sent % 5_000 === 0) run.say(`${sent.toLocaleString('en')} of ${count.toLocaleString('en')} requests`);
    await clients[0]?.request({ method: 'POST', path: `/v1/rides/${rideId}/cancel`, key: partner });
    failures.push(...problems.flatMap((problem) => problem ?? []).slice(0, 1));
    return problems.every((problem) => problem === undefined);
  });
  const { counterexample, failed } = await fc.check(property, {
    seed: run.seed,
    numRuns: Math.ceil(count / batchSize),
  });
  if (failed) failures.push(`smallest: ${JSON.stringify(counterexample?.[0]).slice(0, 2_000)}`);
  for (const client of clients) client.close();
  return { seen, failures, sent };
}
