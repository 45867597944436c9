import { setTimeout } from 'node:timers/promises';
import { hireDrivers } from '../../../dev/fleet/hire.ts';
import { pointAt } from '../../../shared/rides/position.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { assertCount, type Measurement } from '../bench.ts';
import { newKeys } from '../data/keys.ts';
import type { FleetDrivers } from '../load/fleet.ts';
import { usesOfEach } from '../paths/create.ts';
import { newFigure } from '../report.ts';
import { percentile } from '../statistics.ts';
import { area } from './fleet.ts';

const count = 1_000;
const openRides = 100;
/** Rides are created this far apart, so their rounds, which are 30 s apart in the end, are spread as those of any 100 rides. */
const betweenRidesMs = 300;
const betweenMs = 200;
const limitMs = 30_000;

/**
 * Measures how soon a driver who goes online has an open ride, on the stream and in `GET /requests`, beside 1,000 drivers
 * who report every 5 s and get these rides too, but make no offers.
 */
export const freed: Measurement = async ({ stack, quick, say }) => {
  const api = await stack.startApi();
  await stack.startPools();
  const url = `http://127.0.0.1:${api.port}`;
  const drivers = await stack.start('drivers', 'test/bench/load/fleet');
  const keys = (await hireDrivers(count, 1, 'regular')).map(({ key }) => key);
  const behaviour = { bids: 0, counters: 0, withdraws: 0, cancels: 0 };
  const fleet: FleetDrivers = { url, keys, area, seed: 1, drivingSpeed: 1, thinkingSpeed: 1, behaviour };
  assertCount(count, await drivers.ask<number>('drivers', fleet), 'freed: drivers online');

  const partners = await newKeys(Math.ceil(openRides / usesOfEach), 'live');
  const pickups = Array.from({ length: openRides }, (_, index) =>
    pointAt(area, area.km * Math.sqrt((index + 0.5) / openRides), index * 137),
  );
  for (const [index, pickup] of pickups.entries()) {
    const { key = '' } = partners[Math.floor(index / usesOfEach)] ?? {};
    const created = await post(`${url}/v1/rides`, key, { pickup, destination: pointAt(pickup, 2, 0), fare: 20 });
    assertCount(201, created.status, 'freed: status of a creation');
    await setTimeout(betweenRidesMs);
  }

  const probes = await hireDrivers(quick ? 60 : 300, 2, 'regular');
  say(`freed: ${probes.length} drivers go online near ${openRides} open rides, one every ${betweenMs} ms`);
  const othersShare = stack.watchOthers();
  const measured = probes.map(async ({ key }, index) => {
    await setTimeout(index * betweenMs);
    const place = pointAt(pickups[index % openRides] ?? area, 1, index);
    return timeToRequest(`${url}/drivers/v1`, key, place);
  });
  const times = await Promise.all(measured);
  const others = othersShare();
  await drivers.ask('stop');
  const figure = newFigure('freed', others);
  const streamMs = times.map((each) => each.streamMs);
  const listMs = times.map((each) => each.listMs);
  return [
    figure('to the stream, p50', 'ms', percentile(streamMs, 0.5), '<= 200'),
    figure('to the stream, p99', 'ms', percentile(streamMs, 0.99), '<= 1000'),
    figure('to GET /requests, p50', 'ms', percentile(listMs, 0.5), '<= 200'),
    figure('to GET /requests, p99', 'ms', percentile(listMs, 0.99), '<= 1000'),
  ];
};

const post = (url: string, key: string, body: object) =>
  fetch(url, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

/** Puts a driver online. Resolves with the times from sending this to the first request on the stream and in the list. */
async function timeToRequest(base: string, key: string, place: { lat: number; lng: number }) {
  const headers = { authorization: `Bearer ${key}` };
  const stream = await openEventStream(`${base}/stream`, headers);
  const sentAt = performance.now();
  const sinceMs = () => {
    const ms = performance.now() - sentAt;
    if (ms > limitMs) throw new Error('freed: a driver got no request');
    return ms;
  };
  const onStream = async () => {
    for (;;) if ((await stream.next())?.requests?.length > 0) return sinceMs();
  };
  const inList = async () => {
    for (;;) {
      const { requests } = await (await fetch(`${base}/requests`, { headers })).json();
      if (requests.length > 0) return sinceMs();
      sinceMs();
      // Often enough for the goal, and seldom enough to be no load of its own.
      await setTimeout(50);
    }
  };
  const online = post(`${base}/me/online`, key, place);
  const [streamMs, listMs] = await Promise.all([onStream(), inList(), online]);
  await stream.close();
  return { streamMs, listMs };
}
