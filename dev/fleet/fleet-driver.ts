import type { Point } from '../../shared/base/great-circle.ts';
import { maxRequests } from '../../shared/drivers/nearby.ts';
import { sleep } from '../stack/signals.ts';
import { type Behaviour, bidOn } from './behaviour.ts';
import type { Figures } from './figures.ts';
import { type GatewayClient, type OpenRequest, type OwnRide, Refusal } from './gateway-client.ts';
import type { Random } from './random.ts';
import { type Car, driveRide } from './trip.ts';

interface DriverOptions {
  client: GatewayClient;
  car: Car;
  behaviour: Behaviour;
  /**
   * The random numbers for the driver's choices. Each kind of choice has its own sequence, so that it does not depend
   * on the timing of the others.
   */
  random: { bids: Random; trips: Random };
  /** Returns the next destination of an idle driver; undefined to stay. */
  wander(): Point | undefined;
  /** The speed of the car in real life, from which the driver estimates the arrival time. */
  kmh: number;
  /** The factor by which the driver decides and boards faster than in real life. */
  speed: number;
  reportMs: number;
  figures: Figures;
  onRequest?(rideId: string, availableAt: number): void;
}

export interface FleetDriver {
  /** Withdraws the driver's offers, cancels the driver's ride and goes offline. */
  stop(): Promise<void>;
}

const reconnectMs = 1_000;

/** Puts a driver online. The driver reports, bids and drives until stopped. Rejects if going online fails. */
export async function startDriver(options: DriverOptions): Promise<FleetDriver> {
  const { client, car, behaviour, random, figures, speed } = options;
  const ending = new AbortController();
  /** The open requests that the driver has seen, with the offer on them if there is one. */
  const seen = new Map<string, { offerId?: string }>();
  const atWork = new Set<Promise<void>>();
  let trip: { rideId: string; over: AbortController } | undefined;
  let availableAt = performance.now();
  let reported = car.where();

  function onError(error: unknown): void {
    if (ending.signal.aborted) return;
    figures.errors += 1;
    figures.lastError = (error as Error).message;
    // After a 401 the driver stops: the key is revoked or the driver suspended, so every further request would fail.
    if (error instanceof Refusal && error.status === 401) end();
  }
  function end(): void {
    if (ending.signal.aborted) return;
    ending.abort();
    figures.online -= 1;
  }
  function work(task: Promise<void>): void {
    const done: Promise<void> = task.catch(onError).finally(() => atWork.delete(done));
    atWork.add(done);
  }

  async function reportOften(): Promise<void> {
    let dueAt = performance.now() + Math.random() * options.reportMs;
    while (await sleep(Math.max(0, dueAt - performance.now()), ending.signal)) {
      dueAt = Math.max(dueAt + options.reportMs, performance.now());
      const next = !trip && car.isParked() && options.wander();
      if (next) car.driveTo(next);
      await report().catch(onError);
    }
  }
  /** A report from another place may be the first from inside the radius of a ride. */
  async function report(): Promise<void> {
    const at = car.where();
    if (at.lat !== reported.lat || at.lng !== reported.lng) availableAt = performance.now();
    reported = at;
    await client.report(at);
  }

  async function follow(): Promise<void> {
    while (!ending.signal.aborted) {
      try {
        for await (const { event, data } of client.stream(ending.signal)) {
          if (event === 'requests') takeRequests(data.requests);
          if (event === 'ride') takeRide(data.ride);
        }
      } catch (error) {
        onError(error);
      }
      await sleep((0.5 + Math.random()) * reconnectMs, ending.signal);
    }
  }

  function takeRequests(open: OpenRequest[]): void {
    const isOpen = new Set(open.map(({ rideId }) => rideId));
    const wasFull = seen.size >= maxRequests;
    for (const rideId of seen.keys()) if (!isOpen.has(rideId)) seen.delete(rideId);
    if (trip || (wasFull && seen.size < maxRequests)) availableAt = performance.now();
    for (const request of open) {
      if (seen.has(request.rideId)) continue;
      seen.set(request.rideId, { offerId: request.offer?.offerId });
      figures.requests += 1;
      options.onRequest?.(request.rideId, availableAt);
      if (!request.offer) work(bid(request));
    }
  }

  async function bid(request: OpenRequest): Promise<void> {
    const { rideId } = request;
    const made = bidOn(request, behaviour, random.bids, options.kmh);
    if (!made || !(await sleep(made.thinkMs / speed, ending.signal)) || !seen.has(rideId) || trip) return;
    const { price, etaMinutes, withdrawAfterMs } = made;
    const offerId = await unlessRefused(client.offer(rideId, { price, etaMinutes }));
    if (!offerId) return;
    figures.offers += 1;
    seen.set(rideId, { offerId });
    if (withdrawAfterMs === undefined) return;
    if (!(await sleep(withdrawAfterMs / speed, ending.signal)) || !seen.has(rideId)) return;
    await unlessRefused(client.withdraw(rideId, offerId));
  }

  function takeRide(ride: OwnRide | null): void {
    if (trip && trip.rideId !== ride?.rideId) trip.over.abort();
    if (!ride || trip?.rideId === ride.rideId) return;
    const over = new AbortController();
    const begun = { rideId: ride.rideId, over };
    trip = begun;
    figures.underWay += 1;
    const driving = { client, car, behaviour, random: random.trips, speed, onError, report: () => work(report()) };
    work(
      driveRide(ride, driving, AbortSignal.any([over.signal, ending.signal]))
        .then((last) => {
          if (last === 'complete') figures.completed += 1;
          else figures.cancelled += 1;
        })
        .finally(() => {
          figures.underWay -= 1;
          if (trip !== begun) return;
          trip = undefined;
          availableAt = performance.now();
        }),
    );
  }

  /**
   * Withdraws the driver's offers, goes offline and cancels the driver's ride. The caller ignores errors, because the
   * service takes a silent driver offline anyway.
   */
  async function leave(): Promise<void> {
    for (const [rideId, { offerId }] of seen) if (offerId) await client.withdraw(rideId, offerId).catch(() => {});
    await client.goOffline();
    const ride = await client.ride();
    if (ride) await client.takeStep(ride.rideId, 'cancel');
  }

  await client.goOnline(reported);
  figures.online += 1;
  const living = [reportOften(), follow()];
  return {
    async stop() {
      end();
      await Promise.all([...living, ...atWork]);
      await leave().catch(() => {});
    },
  };
}

/** Resolves with undefined if the answer is a 409: another driver was faster, or the ride is gone. */
async function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((error) => {
    if (error instanceof Refusal && error.status === 409) return undefined;
    throw error;
  });
}
