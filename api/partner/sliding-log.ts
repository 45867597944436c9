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

export interface Creation {
  /** Tells one creation from another. */
  member: string;
  /** Several requests may ask for it, also at the same time: they share its charge, which stays until all have failed. */
  isRepeatable: boolean;
}

/** The log of each key's creations, in which both windows are tested before either is charged. */
export interface SlidingLog {
  enter(keyId: string, creation: Creation): Promise<Entry> | Entry;
  /** A request for this creation, which was entered, has failed: takes the charge back unless another one needs it. */
  withdraw(keyId: string, creation: Creation): Promise<unknown> | unknown;
}

const enterScript = `
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
if ARGV[6] == 'repeatable' and result == 'charged' then redis.call('SET', KEYS[2], 1, 'PX', lengths[2]) end
if ARGV[6] == 'repeatable' and result == 'known' then
  redis.call('INCR', KEYS[2])
  redis.call('PEXPIRE', KEYS[2], lengths[2])
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

const withdrawScript = `
if ARGV[2] == 'repeatable' then
  if redis.call('DECR', KEYS[2]) > 0 then return 0 end
  redis.call('DEL', KEYS[2])
end
return redis.call('ZREM', KEYS[1], ARGV[1])`;

type ScriptAnswer = [result: Entry['result'], number, number, number, number];

declare module 'ioredis' {
  interface RedisCommander<Context> {
    enterCreation(log: string, requests: string, member: string, ...rest: unknown[]): Result<ScriptAnswer, Context>;
    withdrawCreation(log: string, requests: string, member: string, repeatable: string): Result<number, Context>;
  }
}

/** By Redis's own clock, and exact over all processes. Fails while Redis is away. */
export function redisLog(redis: Redis): SlidingLog {
  if (!('enterCreation' in redis)) {
    (redis as Redis).defineCommand('enterCreation', { numberOfKeys: 2, lua: enterScript });
    (redis as Redis).defineCommand('withdrawCreation', { numberOfKeys: 2, lua: withdrawScript });
  }
  const limits = [minute, hour].flatMap(({ limit, lengthMs }) => [limit, lengthMs]);
  return {
    async enter(keyId, creation) {
      const [result, inMinute, minuteFreesMs, inHour, hourFreesMs] = await redis.enterCreation(
        ...keysOf(keyId, creation),
        creation.member,
        ...limits,
        repeatable(creation),
      );
      return {
        result,
        minute: { count: inMinute, freesMs: minuteFreesMs },
        hour: { count: inHour, freesMs: hourFreesMs },
      };
    },
    withdraw: (keyId, creation) =>
      redis.withdrawCreation(...keysOf(keyId, creation), creation.member, repeatable(creation)),
  };
}

/** The log, and how many requests share a creation: by its hash tag, both are in one slot of a Redis Cluster. */
const keysOf = (keyId: string, { member }: Creation) =>
  [`rides:created:${keyId}`, `{rides:created:${keyId}}:${member}`] as const;

const repeatable = ({ isRepeatable }: Creation): string => (isRepeatable ? 'repeatable' : '');

interface HeldCreation {
  member: string;
  at: number;
  requests: number;
}

/** The same in this process alone, for as long as Redis is away. */
export function localLog(now: () => number): SlidingLog {
  const logs = new Map<string, HeldCreation[]>();
  return {
    enter(keyId, { member }) {
      const at = now();
      forgetOld(logs, at);
      const log = logs.get(keyId) ?? [];
      const since = (lengthMs: number) => log.filter((creation) => creation.at > at - lengthMs);
      const known = log.find((creation) => creation.member === member);
      const isFull = [minute, hour].some(({ limit, lengthMs }) => since(lengthMs).length >= limit);
      const result = known ? 'known' : isFull ? 'refused' : 'charged';
      if (known) known.requests += 1;
      if (result === 'charged') {
        log.push({ member, at, requests: 1 });
        logs.set(keyId, log);
      }
      const held = (lengthMs: number): Held => {
        const [oldest, ...others] = since(lengthMs);
        return { count: oldest ? others.length + 1 : 0, freesMs: oldest ? oldest.at + lengthMs - at : 0 };
      };
      return { result, minute: held(minute.lengthMs), hour: held(hour.lengthMs) };
    },
    withdraw(keyId, { member }) {
      const log = logs.get(keyId) ?? [];
      const failed = log.find((creation) => creation.member === member);
      if (!failed) return;
      failed.requests -= 1;
      if (failed.requests === 0) log.splice(log.indexOf(failed), 1);
    },
  };
}

function forgetOld(logs: Map<string, HeldCreation[]>, at: number): void {
  for (const [keyId, log] of logs) {
    while (log[0] && log[0].at <= at - hour.lengthMs) log.shift();
    if (log.length === 0) logs.delete(keyId);
  }
}
