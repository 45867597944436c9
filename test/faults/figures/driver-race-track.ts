import { setTimeout } from 'node:timers/promises';
import { createDriver, suspendDriver } from '../../../shared/drivers/manage-drivers.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { isMoving } from '../../../shared/rides/transitions.ts';
import { person } from '../../support/drivers.ts';
import { overlap, timeOnRide } from '../../support/time-on-ride.ts';
import type { TimeSpan } from '../faults-log.ts';
import { between, oneOf, type Random, shuffled } from '../random.ts';
import type { World } from '../world/world.ts';
import { type HttpRequest, httpClient } from './http-client.ts';

/** The moves in a race: one driver has an offer on each of two rides. An accept is the most frequent move. */
const moves = ['accept', 'accept', 'withdraw', 'cancel', 'offer again', 'cancel by driver', 'offline'] as const;
const suspendShare = 0.15;
const acceptShare = 0.8;
const allowed = [200, 201, 204, 401, 409];

const terms = { price: 20, etaMinutes: 5 };
const settleMs = 15_000;

type RideState = Pick<Ride, '_id' | 'status' | 'offers' | 'events'>;

/**
 * Races two partners and a driver on all API processes, with real dispatch and sweeper. The partners compete for the
 * driver.
 */
export function driverRaceTrack(world: World, random: Random) {
  const clients = world.apis.map(({ url }) => httpClient(url, 40));
  const violations: string[] = [];
  const outcomes = new Map<string, number>();
  /** From the moment that the driver is free until the driver has the open ride. */
  const waits: (TimeSpan & { rideId: string })[] = [];
  /** Sends a request, and repeats it after a 503, which says that it is safe to retry. */
  const ask = async (request: HttpRequest) => {
    for (const giveUpAt = Date.now() + settleMs; ; ) {
      const { status, text } = await oneOf(random, clients).request(request);
      if (status !== 503 || Date.now() > giveUpAt) return { status, body: text ? JSON.parse(text) : undefined };
      await setTimeout(1_000);
    }
  };
  const keyOf = keysInTurn(world);

  async function race(): Promise<void> {
    const place = { lat: between(random, -60, 60), lng: between(random, -170, 170) };
    const { driverId, key } = await createDriver(person);
    const driver = (method: string, path: string, body?: object) =>
      ask({ method, path: `/drivers/v1${path}`, key, body });
    await driver('POST', '/me/online', place);
    const [first, second] = [await openRide(place, driver), await openRide(place, driver)];
    const rideIds = [first.rideId, second.rideId];

    const isSuspended = random() < suspendShare;
    const chosen = [first, second].flatMap((ride) => chosenMoves().map((move) => ({ ride, move })));
    const racers = chosen.map(
      ({ ride, move }) =>
        () =>
          act(ride, move, driver),
    );
    const suspend = () => suspendDriver(driverId);
    // The first round of a third ride runs during the race, and may pass over the driver. The next one is 20 s later.
    const third = { rideId: '', partner: await keyOf() };
    const create = async () => {
      third.rideId = await newRide(place, third.partner);
    };
    const all = [...racers, create, ...(isSuspended ? [suspend] : [])];
    await Promise.all(shuffled(random, all).map((go) => go()));
    const found = await waitUntilSettled(rideIds, isSuspended);
    check(found, isSuspended);
    await Promise.all([first, second].map(({ rideId, partner }) => cancel(rideId, partner)));
    if (!isSuspended) {
      if (chosen.some(({ move }) => move === 'offline')) await driver('POST', '/me/online', place);
      await waitUntilOpen(third.rideId, driver);
    }
    await cancel(third.rideId, third.partner);
  }

  /** Waits until the free driver has the ride, which was open all the time. */
  async function waitUntilOpen(rideId: string, driver: AsDriver): Promise<void> {
    for (const from = Date.now(); ; ) {
      const { body } = await driver('GET', '/requests');
      const until = Date.now();
      const isOpen = body?.requests?.some((request: { rideId: string }) => request.rideId === rideId);
      if (isOpen || until - from > settleMs) {
        waits.push({ rideId, from, until });
        return;
      }
      await setTimeout(20);
    }
  }

  async function newRide(pickup: { lat: number; lng: number }, key: string): Promise<string> {
    const body = { pickup, destination: { lat: pickup.lat + 0.02, lng: pickup.lng }, fare: 20 };
    return (await ask({ method: 'POST', path: '/v1/rides', key, body })).body.rideId;
  }

  const chosenMoves = () => {
    const chosen = shuffled(random, moves).slice(0, Math.floor(between(random, 0, 3)));
    return random() < acceptShare ? (['accept', ...chosen] as const) : chosen;
  };

  type AsDriver = (method: string, path: string, body?: object) => ReturnType<typeof ask>;
  interface OpenRide {
    rideId: string;
    offerId: string;
    partner: string;
  }

  /** Creates a ride, waits until it is opened to the driver, and makes the driver's offer. */
  async function openRide(pickup: { lat: number; lng: number }, driver: AsDriver): Promise<OpenRide> {
    const partner = await keyOf();
    const rideId = await newRide(pickup, partner);
    for (const giveUpAt = Date.now() + settleMs; ; ) {
      const offered = await driver('POST', `/requests/${rideId}/offers`, terms);
      if (offered.status === 201) return { rideId, offerId: offered.body.offerId, partner };
      if (offered.status !== 404 || Date.now() > giveUpAt) throw new Error(`an offer was answered ${offered.status}`);
      await setTimeout(20);
    }
  }

  async function act({ rideId, offerId, partner }: OpenRide, move: (typeof moves)[number], driver: AsDriver) {
    const acting = {
      accept: () => ask({ method: 'POST', path: `/v1/rides/${rideId}/accept`, key: partner, body: { offerId } }),
      withdraw: () => driver('DELETE', `/requests/${rideId}/offers/${offerId}`),
      cancel: () => ask({ method: 'POST', path: `/v1/rides/${rideId}/cancel`, key: partner }),
      'offer again': () => driver('POST', `/requests/${rideId}/offers`, terms),
      'cancel by driver': () => driver('POST', '/ride/cancel', { rideId }),
      offline: () => driver('POST', '/me/offline'),
    };
    const { status } = await acting[move]();
    if (!allowed.includes(status)) violations.push(`${rideId}: ${move} was answered ${status}`);
  }

  /** Resolves with the rides once the workers have processed all consequences, or after `settleMs`. */
  async function waitUntilSettled(rideIds: string[], isSuspended: boolean): Promise<RideState[]> {
    for (const giveUpAt = Date.now() + settleMs; ; ) {
      const found = await rides.find<RideState>({ _id: { $in: rideIds } }, { projection }).toArray();
      if (problemsOf(found, isSuspended).length === 0 || Date.now() > giveUpAt) return found;
      await setTimeout(50);
    }
  }

  function check(found: RideState[], isSuspended: boolean): void {
    const [a, b] = found.map(timeOnRide);
    const names = found.map(({ _id }) => _id).join(' and ');
    for (const problem of problemsOf(found, isSuspended)) violations.push(`${names}: ${problem}`);
    if (overlap(a, b)) violations.push(`${names}: the driver was on two rides at a time`);
    const outcome = a && b ? 'one after the other' : a || b ? 'one ride' : 'no ride';
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  }

  async function cancel(rideId: string, partner: string): Promise<void> {
    const { status } = await ask({ method: 'POST', path: `/v1/rides/${rideId}/cancel`, key: partner });
    if (!allowed.includes(status)) violations.push(`${rideId}: the last cancel was answered ${status}`);
  }

  return { race, violations, outcomes, waits, close: () => clients.map((client) => client.close()) };
}

const projection = { status: 1, offers: 1, events: 1 };

/** The consequences that the workers have not processed. */
function problemsOf(found: RideState[], isSuspended: boolean): string[] {
  const moving = found.filter(({ status }) => isMoving(status)).length;
  const offers = found
    .filter(({ status }) => status === 'bidding')
    .flatMap(({ offers: all }) => all.filter(({ withdrawnAt }) => !withdrawnAt)).length;
  const problems: string[] = [];
  if (moving > (isSuspended ? 0 : 1)) problems.push(`the driver is on ${moving} rides, suspended: ${isSuspended}`);
  if (offers > 0 && (moving > 0 || isSuspended)) problems.push(`${offers} live offers of a driver who is gone`);
  return problems;
}

const creationsOfKey = 30;

/** Returns the same key for 30 creations, which is its limit per minute, and then a new key. */
function keysInTurn(world: World): () => Promise<string> {
  let key = Promise.resolve('');
  let used = creationsOfKey;
  return () => {
    if (used++ >= creationsOfKey) {
      used = 1;
      key = world.newKey({ mode: 'live', manner: 'none' }).then((made) => made.key);
    }
    return key;
  };
}
