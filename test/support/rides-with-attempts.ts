import type { Context } from '../../shared/base/context.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Delivery, RideStatus } from '../../shared/rides/ride-types.ts';
import { type AttemptRecord, attempts, eventFields } from '../../shared/webhooks/attempts.ts';
import { attemptRecord } from './attempts.ts';
import { newDriver, type RideWish, rideIn } from './rides.ts';
import { storedRide } from './stored-rides.ts';

const timesSquare = { lat: 40.758, lng: -73.9855, address: 'Times Square, New York' };
export const cityHall = { lat: 40.7128, lng: -74.006, address: 'City Hall, New York' };
/** A new driver for each ride, because a driver drives one ride at a time. */
const dana = () => newDriver({ name: 'Dana Okoye', vehicle: 'Toyota Prius, blue', plate: 'TST 1043' });
const alex = () => newDriver({ name: 'Alex Rivera', vehicle: 'Kia Niro, white', plate: 'TST 1091' });

/** The places, the passenger and the offers of a ride as a partner sees it. */
export const realisticRide = (): RideWish => ({
  pickup: timesSquare,
  destination: cityHall,
  fare: 24.5,
  passenger: { name: 'Ada Lovelace', phone: '+12025550111' },
  notes: 'Ring twice at the side door',
  offers: [
    { driver: dana(), price: 24.5, etaMinutes: 4 },
    { driver: alex(), price: 31, etaMinutes: 2 },
  ],
});

/** The fields of an attempt that depend on its outcome. */
type AttemptOutcome = Partial<AttemptRecord> & { outcome: Delivery['outcome'] };

/** The fields of an attempt that sent nothing. */
export const nothingSent = {
  ...{ headers: undefined, answer: undefined, answerHeaders: undefined },
  ...{ httpStatus: undefined, phases: undefined },
};

export const attemptStates = {
  delivered: { outcome: 'delivered' },
  failed: {
    outcome: 'failed',
    reason: 'status',
    httpStatus: 503,
    answer: '<html>\n<h1>Service Unavailable</h1>\n</html>',
  },
  timeout: {
    outcome: 'timeout',
    reason: 'answer',
    ...{ answer: undefined, answerHeaders: undefined, httpStatus: undefined, durationMs: 8_000 },
    phases: { dns: 3.2, connect: 18.4, tls: 41.7, write: 0.2, answer: 7_936 },
  },
  blocked: { outcome: 'blocked', reason: 'private_address', ...nothingSent, address: undefined, durationMs: 4 },
  no_url: { outcome: 'no_url', ...nothingSent, url: undefined, address: undefined, durationMs: 0 },
} satisfies Record<string, AttemptOutcome>;

const headersOf = (event: string, seq: number) => ({
  Host: 'partner.example',
  Connection: 'close',
  'User-Agent': 'RidePartner-Webhooks/1',
  'X-Service-Event': event,
  'X-Service-Signature': `t=1795300000,v1=${'5f3a'.repeat(16)}`,
  'X-Service-Event-Id': `evt_0WXyZabcdEFGHijklMNOPqr_${seq}`,
  'X-Service-Sequence': String(seq),
  'Content-Type': 'application/json',
  'Content-Length': '412',
});

/** Stores a ride whose first events have these outcomes, with the records of the attempts. Resolves with its id. */
export async function rideWithAttempts(
  ctx: Context,
  wish: RideWish & { accountId: string; keyId: string },
  status: RideStatus,
  outcomes: readonly AttemptOutcome[],
): Promise<string> {
  const { accountId, keyId } = wish;
  const { rideId } = await rideIn(ctx, status, { ...realisticRide(), ...wish });
  const { events, mode } = await storedRide(rideId);
  for (const [index, outcome] of outcomes.entries()) {
    const event = events[index];
    if (!event) throw new Error('more outcomes than events');
    const { seq, body, at } = event;
    const attempt = attemptRecord({
      ...eventFields(event),
      ...{ accountId, keyId, mode, rideId, at, body },
      url: 'https://partner.example/hooks/rides',
      address: '198.51.100.7',
      headers: headersOf(event.event, seq),
      phases: { dns: 3.2, connect: 18.4, tls: 41.7, write: 0.2, answer: 84.1 },
      durationMs: 148,
      answer: '{"ok":true}',
      answerHeaders: { 'content-type': 'application/json', server: 'nginx/1.27.4', 'x-request-id': '4f1c02ab' },
      ...outcome,
    });
    await attempts.insertOne(attempt, { ignoreUndefined: true });
    const { httpStatus, reason, url, durationMs = 0 } = attempt;
    const delivery = { outcome: outcome.outcome, durationMs, at, url, httpStatus, reason };
    const recorded = { [`events.${index}.delivery`]: delivery, settledSeq: seq };
    await rides.updateOne({ _id: rideId }, { $set: recorded }, { ignoreUndefined: true });
  }
  await rides.updateOne({ _id: rideId }, { $set: { unsettled: 0 } });
  return rideId;
}
