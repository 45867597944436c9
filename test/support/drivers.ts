import { setTimeout } from 'node:timers/promises';
import type { Context } from '../../shared/base/context.ts';
import type { Point } from '../../shared/base/great-circle.ts';
import type { TimerName } from '../../shared/base/terms.ts';
import { goOnline } from '../../shared/drivers/change-availability.ts';
import { createDriver, type NewDriver } from '../../shared/drivers/manage-drivers.ts';
import { dispatchRide } from '../../workers/dispatch.ts';
import type { JobResult } from '../../workers/handler.ts';
import { clientOf } from './client.ts';
import { schemaProblem } from './documented.ts';
import { type EventStream, openEventStream } from './event-stream.ts';
import { newRide, type RideWish } from './rides.ts';
import type { TestApi } from './service.ts';

/** A driver's API client. Paths are relative to the base of the drivers' API. */
export type GatewayDriver = ReturnType<typeof gatewayDriver>;

export const person: NewDriver = {
  name: 'Dana Okoye',
  phone: '+12025550100',
  vehicle: 'Toyota Prius, blue',
  plate: 'T 104',
  carType: 'regular',
  seats: 4,
  rating: 4.8,
};

/** A new driver; online at `at` if it is given. */
export async function newGatewayDriver(
  { url, ctx }: Pick<TestApi, 'url' | 'ctx'>,
  { at, ...changes }: Partial<NewDriver> & { at?: Point } = {},
): Promise<GatewayDriver> {
  const input = { ...person, ...changes };
  const { driverId, key } = await createDriver(input);
  if (at) await goOnline({ driverId, ...input }, at, new Date(ctx.now()));
  return gatewayDriver(url, driverId, key);
}

export function gatewayDriver(url: string, driverId: string, key: string) {
  const { get, post, send } = clientOf(url, key, '/drivers/v1');
  return {
    driverId,
    key,
    get: (path: string) => get(path),
    post: (path: string, body?: unknown) => post(path, body),
    put: (path: string, body: unknown) => send('PUT', path, body),
    remove: (path: string, body?: unknown) => send('DELETE', path, body),
    stream: async () =>
      asDocumented(await openEventStream(`${url}/drivers/v1/stream`, { authorization: `Bearer ${key}` })),
  };
}

/** Checks the events of a stream against the responses in the OpenAPI document. */
const asDocumented = (stream: EventStream): EventStream => ({
  ...stream,
  async next() {
    const data = await stream.next();
    const problem = data && schemaProblem('requests' in data ? 'DriverRequestList' : 'DriverOwnRide', data);
    if (problem) throw new Error(`not as documented: ${problem}`);
    return data;
  },
});

/**
 * A position that is far from the drivers and rides of other tests, because dispatch rounds search up to 12 km around a
 * pickup.
 */
export const somewhere = (): Point => ({ lat: between(-60, 60), lng: between(-170, 170) });

const between = (least: number, most: number): number => Number((least + Math.random() * (most - least)).toFixed(6));

/**
 * Runs a job of the queue `dispatch` once, when its timer is due: on a busy machine, this process's estimate of MongoDB's
 * clock, from which a new ride has the timer, can be ahead.
 */
export async function runDispatch(ctx: Context, rideId: string, timer: TimerName = 'dispatch'): Promise<JobResult> {
  const run = { pool: 'dispatch', token: 'test', stopping: new AbortController().signal } as const;
  const result = await dispatchRide(ctx, { rideId, timer }, run);
  if (!('againInMs' in result) || result.why !== 'early' || result.againInMs > 1_000) return result;
  await setTimeout(result.againInMs);
  return runDispatch(ctx, rideId, timer);
}

/** Creates a live ride and runs its first dispatch round. Resolves with its id. */
export async function dispatchedRide(ctx: Context, pickup: Point, wish: Omit<RideWish, 'by' | 'offers'> = {}) {
  const rideId = await newRide(ctx, { pickup, ...wish });
  await runDispatch(ctx, rideId);
  return rideId;
}
