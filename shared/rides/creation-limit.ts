import type { Result } from 'ioredis';
import type { RedisClient } from '../base/redis/redis-nodes.ts';
import { type CreationLimit, contractLimit } from '../keys/api-key.ts';

/** A window of a limit: at most `limit` creations in any `lengthMs`. */
export interface LimitWindow {
  /** Its name in the RateLimit headers. */
  name: string;
  limit: number;
  lengthMs: number;
  /** Its text in the error message. */
  words: string;
}

const minuteMs = 60_000;
const hourMs = 3_600_000;
/** The windows of a key, the longest last: the contract's (section 8), or those of the key's own limit. */
export function keyWindows(ownLimit?: CreationLimit): readonly LimitWindow[] {
  const { perMinute, perHour } = ownLimit ?? contractLimit;
  const which = ownLimit ? 'this key' : 'each key';
  return [
    {
      name: 'minute',
      limit: perMinute,
      lengthMs: minuteMs,
      words: `at most ${perMinute} rides in 60 seconds for ${which}`,
    },
    { name: 'hour', limit: perHour, lengthMs: hourMs, words: `at most ${perHour} rides in an hour for ${which}` },
  ];
}

/** The optional limit for all keys of an account together, set by the operator. */
export const accountWindows = (limit: number): readonly LimitWindow[] => [
  { name: 'account', limit, lengthMs: minuteMs, words: `at most ${limit} rides in 60 seconds for each account` },
];

export interface WindowCount extends LimitWindow {
  /** The number of creations in the window. */
  count: number;
  /** The time until the window has room (ms); while it has room, until its oldest creation leaves it. */
  freesMs: number;
}

export interface WindowCounts {
  /** `known`: an earlier request has charged this creation, so it is not charged again. */
  result: 'charged' | 'known' | 'refused';
  /** The counts, in the order of the windows. */
  counts: WindowCount[];
}

export interface Creation {
  id: string;
  /** True with an Idempotency-Key: requests with the same one share a charge, which stays unless all of them fail. */
  isRepeatable: boolean;
}

/** A log of creations for each key or account id. */
interface SlidingLog {
  /** Adds a creation if all windows have room. */
  charge(id: string, creation: Creation, windows: readonly LimitWindow[]): Promise<WindowCounts> | WindowCounts;
  /** Call it when a charged request has failed. Removes the creation, unless another request shares its charge. */
  refund(id: string, creation: Creation): Promise<unknown> | unknown;
}

// Stryker disable all: the log in Redis is tested with Redis (test/api/rate-limit.test.ts).
const chargeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limits, lengths = {}, {}
for i = 3, #ARGV, 2 do
  limits[#limits + 1] = tonumber(ARGV[i])
  lengths[#lengths + 1] = tonumber(ARGV[i + 1])
end
local longest = lengths[#lengths]
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - longest)
local counts = {}
local result = redis.call('ZSCORE', KEYS[1], ARGV[1]) and 'known' or 'charged'
for i = 1, #limits do
  counts[i] = redis.call('ZCOUNT', KEYS[1], '(' .. (now - lengths[i]), '+inf')
  if result == 'charged' and counts[i] >= limits[i] then result = 'refused' end
end
if result == 'charged' then
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('PEXPIRE', KEYS[1], longest)
  for i = 1, #limits do counts[i] = counts[i] + 1 end
end
if ARGV[2] == 'repeatable' and result == 'charged' then redis.call('SET', KEYS[2], 1, 'PX', longest) end
if ARGV[2] == 'repeatable' and result == 'known' then
  redis.call('INCR', KEYS[2])
  redis.call('PEXPIRE', KEYS[2], longest)
end
local answer = { result }
for i = 1, #limits do
  local frees = 0
  if counts[i] > 0 then
    -- A limit that was lowered can have more creations than it admits: then several of them must leave the window.
    local place = -math.min(counts[i], limits[i])
    local oldest = redis.call('ZRANGE', KEYS[1], place, place, 'WITHSCORES')
    frees = oldest[2] + lengths[i] - now
  end
  answer[#answer + 1] = counts[i]
  answer[#answer + 1] = frees
end
return answer`;

const refundScript = `
if ARGV[2] == 'repeatable' then
  if redis.call('DECR', KEYS[2]) > 0 then return 0 end
  redis.call('DEL', KEYS[2])
end
return redis.call('ZREM', KEYS[1], ARGV[1])`;

/** The result, followed by `count` and `freesMs` of each window. */
type ScriptAnswer = [result: WindowCounts['result'], ...numbers: number[]];

declare module 'ioredis' {
  interface RedisCommander<Context> {
    chargeCreation(log: string, requests: string, member: string, ...rest: unknown[]): Result<ScriptAnswer, Context>;
    refundCreation(log: string, requests: string, member: string, repeatable: string): Result<number, Context>;
  }
}

/** A log in Redis, which counts exactly over all processes, by Redis's clock. Rejects while Redis is unavailable. */
export function redisLog(redis: RedisClient): SlidingLog {
  if (!('chargeCreation' in redis)) {
    (redis as RedisClient).defineCommand('chargeCreation', { numberOfKeys: 2, lua: chargeScript });
    (redis as RedisClient).defineCommand('refundCreation', { numberOfKeys: 2, lua: refundScript });
  }
  return {
    async charge(id, creation, windows) {
      const [result, ...numbers] = await redis.chargeCreation(
        ...keysOf(id, creation),
        creation.id,
        repeatable(creation),
        ...windows.flatMap(({ limit, lengthMs }) => [limit, lengthMs]),
      );
      const counts = windows.map((window, index) => {
        const [count = 0, freesMs = 0] = numbers.slice(2 * index);
        return { ...window, count, freesMs };
      });
      return { result, counts };
    },
    refund: (id, creation) => redis.refundCreation(...keysOf(id, creation), creation.id, repeatable(creation)),
  };
}

/** The Redis keys of the log, and of the count of requests for one creation. The hash tag puts both on one node. */
const keysOf = (of: string, { id }: Creation) => [`rides:created:${of}`, `{rides:created:${of}}:${id}`] as const;

const repeatable = ({ isRepeatable }: Creation): string => (isRepeatable ? 'repeatable' : '');

// Stryker restore all

interface LoggedCreation {
  id: string;
  at: number;
  requests: number;
}

/** A log of this process only, for use while Redis is unavailable. */
export function localLog(now: () => number): SlidingLog {
  const logs = new Map<string, LoggedCreation[]>();
  return {
    charge(of, { id }, windows) {
      const at = now();
      removeOld(logs, at);
      const log = logs.get(of) ?? [];
      const since = (lengthMs: number) => log.filter((creation) => creation.at > at - lengthMs);
      const known = log.find((creation) => creation.id === id);
      const isFull = windows.some(({ limit, lengthMs }) => since(lengthMs).length >= limit);
      const result = known ? 'known' : isFull ? 'refused' : 'charged';
      if (known) known.requests += 1;
      if (result === 'charged') {
        log.push({ id, at, requests: 1 });
        logs.set(of, log);
      }
      const countOf = (window: LimitWindow): WindowCount => {
        const { limit, lengthMs } = window;
        const counted = since(lengthMs);
        // As in the script: a limit that was lowered can have more creations than it admits.
        const oldest = counted.at(-Math.min(counted.length, limit));
        return { ...window, count: counted.length, freesMs: oldest ? oldest.at + lengthMs - at : 0 };
      };
      return { result, counts: windows.map(countOf) };
    },
    refund(of, { id }) {
      // Stryker disable next-line ArrayDeclaration: a log without the creation changes nothing
      const log = logs.get(of) ?? [];
      const failed = log.find((creation) => creation.id === id);
      if (!failed) return;
      failed.requests -= 1;
      if (failed.requests === 0) log.splice(log.indexOf(failed), 1);
    },
  };
}

function removeOld(logs: Map<string, LoggedCreation[]>, at: number): void {
  for (const [of, log] of logs) {
    while (log[0] && log[0].at <= at - hourMs) log.shift();
    // Stryker disable next-line ConditionalExpression: an empty log counts like no log, but takes memory.
    if (log.length === 0) logs.delete(of);
  }
}
