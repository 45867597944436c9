import { setTimeout } from 'node:timers/promises';
import { hireDrivers } from '../../../dev/fleet/hire.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Offer } from '../../../shared/rides/ride-types.ts';
import { isMoving } from '../../../shared/rides/transitions.ts';
import { becomes } from '../../support/until.ts';
import { assertCount, type Bench, type Measurement } from '../bench.ts';
import { newKeys } from '../data/keys.ts';
import { type BenchReceiver, startReceiver } from '../delivery/receiver.ts';
import type { FleetDrivers, FleetResult, FleetRides } from '../load/fleet.ts';
import type { Receipt } from '../load/receiver.ts';
import { cpuByProgram } from '../measured/cpu-by-program.ts';
import type { Program } from '../measured/program.ts';
import { usesOfEach } from '../paths/create.ts';
import { newFigure } from '../report.ts';
import { percentile } from '../statistics.ts';

export const area = { lat: 40.758, lng: -73.9855, km: 10 };
const perSecond = 5;
const pace = { drivingSpeed: 8, thinkingSpeed: 2, tripKm: 2 };
/** After this time every ride has ended: completed, or cancelled without a driver. */
const longestRideMs = 180_000;

/**
 * 1,000 online drivers, who report every 5 s and hold streams, and partners who create live rides near them. Measures
 * how soon drivers nearby are notified, and checks that events reach the partners' receiver in order.
 */
export const fleet: Measurement = async (bench) => {
  const { stack, say, quick } = bench;
  const [count, fill, held] = quick ? [1_000, 15, 20] : [1_000, 60, 60];
  const { api, drivers, receiver, programs } = await startAll(bench);
  await receiver.reset(true);
  const url = `http://127.0.0.1:${api.port}`;
  const online = await putOnline(drivers, url, count, say);
  assertCount(count, online, 'fleet: drivers online');

  const keys = (await newKeys(Math.ceil((perSecond * (fill + held)) / usesOfEach) + 1, 'live', receiver.url)).map(
    ({ key }) => key,
  );
  const fillKeys = keys.splice(0, Math.ceil((perSecond * fill) / usesOfEach));
  const createRides = (seconds: number, of: string[]) => {
    const { tripKm } = pace;
    return drivers.ask('rides', { url, keys: of, usesOfEach, area, tripKm, perSecond, seconds } satisfies FleetRides);
  };
  say(`fleet: ${perSecond} rides a second, ${fill} s to fill, ${held} s measured`);
  const filling = createRides(fill, fillKeys);
  await setTimeout(fill * 1_000);
  await drivers.ask('forget');
  const cpu = await cpuByProgram(stack, programs);
  const stopProfile = await bench.profiles.start('fleet', programs);
  const creating = createRides(held, keys);
  await setTimeout(held * 1_000);
  const used = await cpu.stop();
  const underWay = (await drivers.ask<FleetResult>('result')).figures.underWay;
  await stopProfile();
  await Promise.all([filling, creating]);
  const { rideIds, told, figures } = await drivers.ask<FleetResult>('result');
  const { asked, createdToToldMs, laterToToldMs } = await timesOf(rideIds, told);
  say('fleet: waiting until every ride has ended');
  await waitUntilAllEnded();
  await drivers.ask('stop');
  const events = await checkOrder(receiver);
  if (figures.lastError) say(`fleet: the last failed request: ${figures.lastError}`);

  const figure = newFigure(`${count.toLocaleString('en-US')} drivers, ${perSecond} rides a second`, used.othersShare);
  return [
    figure('creation to a driver told, p50', 'ms', percentile(createdToToldMs, 0.5), '<= 150'),
    figure('creation to a driver told, p99', 'ms', percentile(createdToToldMs, 0.99), '<= 1000'),
    figure('available to told, p50', 'ms', percentile(laterToToldMs, 0.5), '<= 200'),
    figure('available to told, p99', 'ms', percentile(laterToToldMs, 0.99), '<= 1000'),
    figure('asked drivers who were told', '%', (told.length / asked) * 100, '>= 99'),
    figure('events in order', 'events', events),
    figure('failed requests of drivers', 'requests', figures.errors, '<= 0'),
    figure('offers', 'a second', figures.offers / (fill + held)),
    figure('rides under way', 'rides', underWay),
    figure('CPU of the machine', '%', used.machinePercent),
    ...used.perSecondMs.map(([who, ms]) => figure(`CPU of ${who}`, '% of a core', ms / 10)),
  ];
};

export async function putOnline(drivers: Program, url: string, count: number, say: (line: string) => void) {
  say(`creating ${count.toLocaleString('en-US')} drivers and putting them online`);
  const keys = (await hireDrivers(count, 1, 'regular')).map(({ key }) => key);
  const { drivingSpeed, thinkingSpeed } = pace;
  return drivers.ask<number>('drivers', {
    ...{ url, keys, area, seed: 1, drivingSpeed, thinkingSpeed },
  } satisfies FleetDrivers);
}

async function startAll({ stack }: Bench) {
  const receiver = await startReceiver(stack);
  const drivers = await stack.start('drivers and partners', 'test/bench/load/fleet');
  const api = await stack.startApi(receiver.senderEnv);
  const pools = await stack.startPools(receiver.senderEnv);
  return { api, drivers, receiver, programs: [api, ...pools, drivers, receiver] };
}

const enoughOffers = 5;

/**
 * The times until drivers were told: from the creation, or from a later moment at which a driver became available to
 * the ride. That is also the moment at which a ride with enough offers lost one, and was opened to further drivers.
 * `asked`: how many drivers the rides were opened to.
 */
async function timesOf(rideIds: string[], told: FleetResult['told']) {
  const found = await rides.find({ _id: { $in: rideIds } }, { projection: { asked: 1, offers: 1 } }).toArray();
  const lossesOf = new Map(found.map(({ _id, offers }) => [_id, lossesAmong(offers)]));
  const since = told.map(({ rideId, createdAt, availableAt, at }) => {
    const losses = (lossesOf.get(rideId) ?? []).filter((lostAt) => lostAt <= at);
    return { createdAt, from: Math.max(createdAt, availableAt, ...losses), at };
  });
  return {
    asked: found.reduce((sum, { asked = [] }) => sum + asked.length, 0),
    createdToToldMs: since.flatMap(({ createdAt, from, at }) => (from === createdAt ? at - from : [])),
    laterToToldMs: since.flatMap(({ createdAt, from, at }) => (from === createdAt ? [] : at - from)),
  };
}

/** When each offer was withdrawn that made a ride want offers again, as Unix times. */
function lossesAmong(offers: readonly Offer[]): number[] {
  const liveAt = (time: Date) =>
    offers.filter(({ at, withdrawnAt }) => at <= time && !(withdrawnAt && withdrawnAt < time)).length;
  return offers.flatMap(({ withdrawnAt }) =>
    withdrawnAt && liveAt(withdrawnAt) >= enoughOffers ? withdrawnAt.getTime() : [],
  );
}

async function waitUntilAllEnded(): Promise<void> {
  const left = async () =>
    (await rides.find({}, { projection: { status: 1, unsettled: 1 } }).toArray()).filter(
      ({ status, unsettled }) => status === 'bidding' || isMoving(status) || unsettled > 0,
    ).length;
  const isOver = await becomes(async () => (await left()) === 0, longestRideMs, 500);
  if (!isOver) throw new Error(`fleet: ${await left()} rides have not ended`);
}

/** Throws unless every event of every ride was received once and in order. Resolves with the number of events. */
async function checkOrder(receiver: BenchReceiver): Promise<number> {
  const receipts = await receiver.ask<Receipt[]>('receipts');
  const last = new Map<string, number>();
  for (const { text } of receipts) {
    const sequence = Number(/\r\nx-service-sequence: *(\d+)/i.exec(text)?.[1]);
    const rideId = /"rideId":"([^"]+)"/.exec(text)?.[1] ?? '';
    assertCount((last.get(rideId) ?? 0) + 1, sequence, `fleet: the next event of ${rideId}`);
    last.set(rideId, sequence);
  }
  const stored = await rides.find({}, { projection: { seq: 1 } }).toArray();
  for (const { _id, seq } of stored) assertCount(seq, last.get(_id) ?? 0, `fleet: events of ${_id} received`);
  return receipts.length;
}
