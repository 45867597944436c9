import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { Redis } from 'ioredis';
import type { ApiKey } from '../../../shared/keys/api-key.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { findKey } from './find-key.ts';
import { connect, serve } from './serve.ts';

/**
 * The floor of a creation: finds the key, charges its limit and adds the delayed job in one script, inserts the ride
 * with journal acknowledgement, and answers.
 */
const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 3600000)
if redis.call('ZCARD', KEYS[1]) >= 300 or redis.call('ZCOUNT', KEYS[1], now - 59999, '+inf') >= 30 then return 0 end
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('PEXPIRE', KEYS[1], 3600000)
redis.call('HSET', KEYS[2] .. ARGV[1], 'name', 'expire', 'data', ARGV[2], 'delay', ARGV[3])
redis.call('ZADD', KEYS[3], now + ARGV[3], ARGV[1])
return 1`;

declare module 'ioredis' {
  interface RedisCommander<Context> {
    chargeAndDelay(...args: [string, string, string, string, string, number]): Promise<number>;
  }
}

const biddingMs = 600_000;
const database = await connect();
const keys = database.collection<ApiKey>('keys');
const rides = database.collection<Ride>('rides');
const redis = new Redis(process.env.REDIS_URL ?? '');
redis.defineCommand('chargeAndDelay', { numberOfKeys: 3, lua: script });

serve(201, async (request) => {
  const key = await findKey(keys, request);
  const ride = newRide(key, JSON.parse(await read(request)));
  const data = JSON.stringify({ rideId: ride._id, timer: 'expire' });
  const args = [`floor:created:${key._id}`, 'floor:job:', 'floor:delayed', ride._id, data, biddingMs] as const;
  if ((await redis.chargeAndDelay(...args)) !== 1) throw new Error('rate limited');
  await rides.insertOne(ride);
  const { _id: rideId, status, fare, carType, distanceKm } = ride;
  return { rideId, status, fare, carType, distanceKm, trackUrl: `https://track.example/${ride.trackToken}` };
});

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}

function newRide(key: ApiKey, body: Pick<Ride, 'pickup' | 'destination' | 'fare'>): Ride {
  const createdAt = new Date();
  const biddingEndsAt = new Date(createdAt.getTime() + biddingMs);
  const _id = `ride_${createdAt.getTime().toString(36)}${randomBytes(12).toString('base64url')}`;
  const trackToken = randomBytes(16).toString('base64url');
  return {
    ...{ _id, keyId: key._id, accountId: key.accountId, mode: key.mode },
    ...{ carType: 'regular', rideType: 'standard', passengerCount: 1, distanceKm: 5.17, ...body },
    ...{ trackToken, createdAt, biddingEndsAt, rev: 0, status: 'bidding', statusAt: createdAt, offers: [] },
    ...{ timers: [{ name: 'expire', dueAt: biddingEndsAt }], nextDueAt: biddingEndsAt },
    ...{ events: [], seq: 0, settledSeq: 0, unsettled: 0 },
  };
}
