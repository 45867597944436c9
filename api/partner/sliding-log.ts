import type { Redis, Result } from 'ioredis';

/** At most 30 creations in any 60 s and 300 in any 3,600 s for each key (contract, section 8). */
export const minute = { name: 'minute', limit: 30, lengthMs: 60_000 } as const;
export const hour = { name: 'hour', limit: 300, lengthMs: 3_600_000 } as const;

/** How many creations a window holds, and in how many ms the oldest of them leaves it. */
export interface Held {
  count: number;
  freesMs: number;
}

export interface Entry {
  /** `known` is one that the log held already: it is not charged twice. */
  result: 'charged' | 'known' | 'refused';
  minute: Held;
  hour: Held;
}

/**
 * The log of each key's creations, in which both windows are tested before either is charged. `member` tells one
 * creation from another.
 */
export interface SlidingLog {
  enter(keyId: string, member: string): Promise<Entry> | Entry;
  remove(keyId: string, member: string): Promise<unknown> | unknown;
}

const script = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limits = { tonumber(ARGV[2]), tonumber(ARGV[4]) }
local lengths = { tonumber(ARGV[3]), tonumber(ARGV[5]) }
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - lengths[2])
local held = {}
local result = redis.call('ZSCORE', KEYS[1], ARGV[1]) and 'known' or 'charged'
for i = 1, 2 do
  held[i] = redis.call('ZCOUNT', KEYS[1], '(' .. (now - lengths[i]), '+inf')
  if result == 'charged' and held[i] >= limits[i] then result = 'refused' end
end
if result == 'charged' then
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('PEXPIRE', KEYS[1], lengths[2])
  held = { held[1] + 1, held[2] + 1 }
end
local frees = {}
for i = 1, 2 do
  frees[i] = 0
  if held[i] > 0 then
    local oldest = redis.call('ZRANGE', KEYS[1], -held[i], -held[i], 'WITHSCORES')
    frees[i] = oldest[2] + lengths[i] - now
  end
end
return { result, held[1], frees[1], held[2], frees[2] }`;

type ScriptAnswer = [result: Entry['result'], number, number, number, number];

declare module 'ioredis' {
  interface RedisCommander<Context> {
    enterCreation(key: string, member: string, ...limits: number[]): Result<ScriptAnswer, Context>;
  }
}

/** By Redis's own clock, and exact over all processes. Fails while Redis is away. */
export function redisLog(redis: Redis): SlidingLog {
  if (!('enterCreation' in redis)) (redis as Redis).defineCommand('enterCreation', { numberOfKeys: 1, lua: script });
  const logOf = (keyId: string) => `rides:created:${keyId}`;
  const limits = [minute, hour].flatMap(({ limit, lengthMs }) => [limit, lengthMs]);
  return {
    async enter(keyId, member) {
      const [result, inMinute, minuteFreesMs, inHour, hourFreesMs] = await redis.enterCreation(
        logOf(keyId),
        member,
        ...limits,
      );
      return {
        result,
        minute: { count: inMinute, freesMs: minuteFreesMs },
        hour: { count: inHour, freesMs: hourFreesMs },
      };
    },
    remove: (keyId, member) => redis.zrem(logOf(keyId), member),
  };
}

interface Creation {
  member: string;
  at: number;
}

/** The same in this process alone, for as long as Redis is away. */
export function localLog(now: () => number): SlidingLog {
  const logs = new Map<string, Creation[]>();
  return {
    enter(keyId, member) {
      const at = now();
      forgetOld(logs, at);
      const log = logs.get(keyId) ?? [];
      const since = (lengthMs: number) => log.filter((creation) => creation.at > at - lengthMs);
      const isKnown = log.some((creation) => creation.member === member);
      const isFull = [minute, hour].some(({ limit, lengthMs }) => since(lengthMs).length >= limit);
      const result = isKnown ? 'known' : isFull ? 'refused' : 'charged';
      if (result === 'charged') logs.set(keyId, log);
      if (result === 'charged') log.push({ member, at });
      const held = (lengthMs: number): Held => {
        const [oldest, ...others] = since(lengthMs);
        return { count: oldest ? others.length + 1 : 0, freesMs: oldest ? oldest.at + lengthMs - at : 0 };
      };
      return { result, minute: held(minute.lengthMs), hour: held(hour.lengthMs) };
    },
    remove(keyId, member) {
      const left = (logs.get(keyId) ?? []).filter((creation) => creation.member !== member);
      logs.set(keyId, left);
    },
  };
}

function forgetOld(logs: Map<string, Creation[]>, at: number): void {
  for (const [keyId, log] of logs) {
    while (log[0] && log[0].at <= at - hour.lengthMs) log.shift();
    if (log.length === 0) logs.delete(keyId);
  }
}
