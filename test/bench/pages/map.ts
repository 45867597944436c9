import { setTimeout } from 'node:timers/promises';
import { encodeLine, lengthKm, pathAlong } from '../../../shared/rides/path.ts';
import { legBetween } from '../../../shared/rides/position.ts';
import { cornerRoad } from '../../support/router.ts';
import { assertCount, type Measurement } from '../bench.ts';
import { newKeys } from '../data/keys.ts';
import { insertRides, tripRide } from '../data/rides.ts';
import { cpuByProgram } from '../measured/cpu-by-program.ts';
import { newFigure } from '../report.ts';
import { percentile } from '../statistics.ts';
import { latencies, newStreams, timeOf } from './http-requests.ts';

/**
 * Viewers of one ride whose car drives along a road, each with a stream that gets the car's position every 2 s. Measures their CPU cost in the
 * API's process, and the latency of partners' requests at the same time.
 */
export const map: Measurement = async ({ stack, quick, say }) => {
  const viewers = 1_000;
  const seconds = quick ? 10 : 30;
  const api = await stack.startApi({ MAX_STREAMS_PER_CLIENT: String(viewers), MAX_STREAMS_PER_RIDE: String(viewers) });
  const [key] = await newKeys(1, 'test');
  if (!key) throw new Error('map: no key');
  const ride = tripRide(key, 'in_progress');
  const startAt = new Date();
  ride.leg = legBetween(ride.pickup, ride.destination, startAt, 3_600_000);
  // Its line has almost 4 kB, the most that a ride stores.
  const road = cornerRoad(ride.pickup, ride.destination, 650);
  const km = lengthKm(pathAlong(road));
  ride.route = { to: 'destination', at: startAt, road: { line: encodeLine(road), km, seconds: 3_600 } };
  await insertRides([ride]);

  const base = `http://127.0.0.1:${api.port}`;
  const retrieve = () => timeOf(`${base}/v1/rides/${ride._id}`, { Authorization: `Bearer ${key.key}` });
  say('requests without viewers');
  const without = await latencies(retrieve, seconds);
  say(`${viewers.toLocaleString('en-US')} viewers of one ride`);
  const streams = newStreams();
  let received = 0;
  const view = () =>
    streams.open(`${base}/track/${ride.trackToken}/events`, {}, (chunk) => {
      if (chunk.includes('data: ')) received += 1;
    });
  for (let opened = 0; opened < viewers; opened += 50) await Promise.all(Array.from({ length: 50 }, view));
  await setTimeout(3_000);
  const before = received;
  const cpu = await cpuByProgram(stack, [api]);
  await setTimeout(seconds * 1_000);
  const { percentOf, othersShare: others } = await cpu.stop();
  const perViewer = (received - before) / viewers / seconds;
  say('requests with viewers');
  const withViewers = await latencies(retrieve, seconds);
  assertCount(viewers, streams.count(), 'map: open streams');
  streams.close();
  const figure = newFigure(`${viewers.toLocaleString('en-US')} viewers of one ride`, others);
  return [
    figure('CPU of the API', '% of a core', percentOf(api.name), '<= 25'),
    figure('states a second to each', 'a second', perViewer, '>= 0.45'),
    figure('a retrieval beside them, p99', 'ms', percentile(withViewers, 0.99), '<= 100'),
    newFigure('no viewers')('a retrieval, p99', 'ms', percentile(without, 0.99)),
  ];
};
