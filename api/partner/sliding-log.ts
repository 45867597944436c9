import type { Result } from 'ioredis';
import type { RedisClient } from '../../shared/redis.ts';

/** At most 30 creations in any 60 s and 300 in any 3,600 s for each key (contract, section 8). */
export const minute = { name: 'minute', limit: 30, lengthMs: 60_000 } as const;
export const hour = { name: 'hour', limit: 300, lengthMs: 3_600_000 } as const;

/** How many creations a window counts, and in how many ms the oldest of them leaves it. */
export interface WindowCount {
  count: number;
  freesMs: number;
}

export interface WindowCounts {
  /** `known`: the creation was charged by an earlier request, and is not charged twice. */
  result: 'charged' | 'known' | 'refused';
  minute: WindowCount;
  hour: WindowCount;
}

export interface Creation {
  id: string;
  /** Several requests, even concurrent ones, may be this creation. They share one charge, which stays until all have failed. */
  isRepeatable: boolean;
}

/** The log of each key's creations. Both windows are tested before the creation is added. */
export interface SlidingLog {
  charge(keyId: string, creation: Creation): Promise<WindowCounts> | WindowCounts;
  /** A request that was charged has failed: removes the creation, unless another request shares its charge. */
  refund(keyId: string, creation: Creation): Promise<unknown> | unknown;
}

const chargeScript = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limits = { tonumber(ARGV[2]), tonumber(ARGV[4]) }
local lengths = { tonumber(ARGV[3]), tonumber(ARGV[5]) }
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - lengths[2])
local counts = {}
local result = redis.call('ZSCORE', KEYS[1], ARGV[1]) and 'known' or 'charged'
for i = 1, 2 do
  counts[i] = redis.call('ZCOUNT', KEYS[1], '(' .. (now - lengths[i]), '+inf')
  if result == 'charged' and counts[i] >= limits[i] then result = 'refused' end
end
if result == 'charged' then
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('PEXPIRE', KEYS[1], lengths[2])
  counts = { counts[1] + 1, counts[2] + 1 }
end
if ARGV[6] == 'repeatable' and result == 'charged' then redis.call('SET', KEYS[2], 1, 'PX', lengths[2]) end
if ARGV[6] == 'repeatable' and result == 'known' then
  redis.call('INCR', KEYS[2])
  redis.call('PEXPIRE', KEYS[2], lengths[2])
end
local frees = {}
for i = 1, 2 do
  frees[i] = 0
  if counts[i] > 0 then
    local oldest = redis.call('ZRANGE', KEYS[1], -counts[i], -counts[i], 'WITHSCORES')
    frees[i] = oldest[2] + lengths[i] - now
  end
end
return { result, counts[1], frees[1], counts[2], frees[2] }`;

const refundScript = `
if ARGV[2] == 'repeatable' then
  if redis.call('DECR', KEYS[2]) > 0 then return 0 end
  redis.call('DEL', KEYS[2])
end
return redis.call('ZREM', KEYS[1], ARGV[1])`;

type ScriptAnswer = [result: WindowCounts['result'], number, number, number, number];

declare module 'ioredis' {
  interface RedisCommander<Context> {
    chargeCreation(log: string, requests: string, member: string, ...rest: unknown[]): Result<ScriptAnswer, Context>;
    refundCreation(log: string, requests: string, member: string, repeatable: string): Result<number, Context>;
  }
}

/** Counts by Redis's clock, exactly over all processes. Rejects while Redis is away. */
export function redisLog(redis: RedisClient): SlidingLog {
  if (!('chargeCreation' in redis)) {
    (redis as RedisClient).defineCommand('chargeCreation', { numberOfKeys: 2, lua: chargeScript });
    (redis as RedisClient).defineCommand('refundCreation', { numberOfKeys: 2, lua: refundScript });
  }
  const limits = [minute, hour].flatMap(({ limit, lengthMs }) => [limit, lengthMs]);
  return {
    async charge(keyId, creation) {
      const [result, inMinute, minuteFreesMs, inHour, hourFreesMs] = await redis.chargeCreation(
        ...keysOf(keyId, creation),
        creation.id,
        ...limits,
        repeatable(creation),
      );
      return {
        result,
        minute: { count: inMinute, freesMs: minuteFreesMs },
        hour: { count: inHour, freesMs: hourFreesMs },
      };
    },
    refund: (keyId, creation) => redis.refundCreation(...keysOf(keyId, creation), creation.id, repeatable(creation)),
  };
}

/** The log, and how many requests share a creation. The hash tag puts both in one slot of a Redis Cluster. */
const keysOf = (keyId: string, { id }: Creation) =>
  [`rides:created:${keyId}`, `{rides:created:${keyId}}:${id}`] as const;

const repeatable = ({ isRepeatable }: Creation): string => (isRepeatable ? 'repeatable' : '');

interface LoggedCreation {
  id: string;
  at: number;
  requests: number;
}

/** Counts in this process alone, for use while Redis is away. */
export function localLog(now: () => number): SlidingLog {
  const logs = new Map<string, LoggedCreation[]>();
  return {
    charge(keyId, { id }) {
      const at = now();
      removeOld(logs, at);
      const log = logs.get(keyId) ?? [];
      const since = (lengthMs: number) => log.filter((creation) => creation.at > at - lengthMs);
      const known = log.find((creation) => creation.id === id);
      const isFull = [minute, hour].some(({ limit, lengthMs }) => since(lengthMs).length >= limit);
      const result = known ? 'known' : isFull ? 'refused' : 'charged';
      if (known) known.requests += 1;
      if (result === 'charged') {
        log.push({ id, at, requests: 1 });
        logs.set(keyId, log);
      }
      const countOf = (lengthMs: number): WindowCount => {
        const [oldest, ...others] = since(lengthMs);
        return { count: oldest ? others.length + 1 : 0, freesMs: oldest ? oldest.at + lengthMs - at : 0 };
      };
      return { result, minute: countOf(minute.lengthMs), hour: countOf(hour.lengthMs) };
    },
    refund(keyId, { id }) {
      const log = logs.get(keyId) ?? [];
      const failed = log.find((creation) => creation.id === id);
      if (!failed) return;
      failed.requests -= 1;
      if (failed.requests === 0) log.splice(log.indexOf(failed), 1);
    },
  };
}

function removeOld(logs: Map<string, LoggedCreation[]>, at: number): void {
  for (const [keyId, log] of logs) {
    while (log[0] && log[0].at <= at - hour.lengthMs) log.shift();
    if (log.length === 0) logs.delete(keyId);
  }
}
