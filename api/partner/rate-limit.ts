import type { Redis, Result } from 'ioredis';
import type { Context } from '../../shared/context.ts';
import { AppError } from '../../shared/errors.ts';
import { randomBase62 } from '../../shared/ids.ts';

/** At most 30 creations in any 60 s and 300 in any 3,600 s for each key (contract, section 8). */
const windows = [
  { name: 'minute', limit: 30, lengthMs: 60_000 },
  { name: 'hour', limit: 300, lengthMs: 3_600_000 },
] as const;
const [minute, hour] = windows;

/**
 * A sliding log of the key's creations, by Redis's own clock. Both windows are tested before either is charged. Answers
 * whether it charged, then for each window how many it holds and in how many ms the oldest of them leaves.
 */
const slidingLog = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limits = { tonumber(ARGV[2]), tonumber(ARGV[4]) }
local lengths = { tonumber(ARGV[3]), tonumber(ARGV[5]) }
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - lengths[2])
local held = {}
local charged = 1
for i = 1, 2 do
  held[i] = redis.call('ZCOUNT', KEYS[1], '(' .. (now - lengths[i]), '+inf')
  if held[i] >= limits[i] then charged = 0 end
end
if charged == 1 then
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('PEXPIRE', KEYS[1], lengths[2])
  held = { held[1] + 1, held[2] + 1 }
end
local frees = {}
for i = 1, 2 do
  local oldest = redis.call('ZRANGE', KEYS[1], -held[i], -held[i], 'WITHSCORES')
  frees[i] = oldest[2] and (oldest[2] + lengths[i] - now) or 0
end
return { charged, held[1], frees[1], held[2], frees[2] }`;

type SlidingLogAnswer = [charged: number, minuteHeld: number, minuteFrees: number, hourHeld: number, hourFrees: number];

declare module 'ioredis' {
  interface RedisCommander<Context> {
    chargeCreation(
      key: string,
      member: string,
      minuteLimit: number,
      minuteMs: number,
      hourLimit: number,
      hourMs: number,
    ): Result<SlidingLogAnswer, Context>;
  }
}

export interface Charge {
  /** The draft RateLimit fields of the answer. */
  headers: Record<string, string>;
  /** Takes the charge back: the creation failed, or was a repeat. Never fails. */
  refund(): Promise<void>;
}

/**
 * Counts creations, exactly over all processes; while Redis is away by itself, in this process alone. `charge` throws
 * `rate_limited` with Retry-After, the seconds until the longer exhausted window frees.
 */
export function creationLimiter(service: Pick<Context, 'redis' | 'now'>) {
  const { redis } = service;
  if (!('chargeCreation' in redis))
    (redis as Redis).defineCommand('chargeCreation', { numberOfKeys: 1, lua: slidingLog });
  const local = localLog(service.now);

  return async function charge(keyId: string): Promise<Charge> {
    const key = `rides:created:${keyId}`;
    const member = randomBase62(16);
    let answer: SlidingLogAnswer;
    let refund: () => Promise<unknown> | unknown;
    try {
      answer = await redis.chargeCreation(key, member, minute.limit, minute.lengthMs, hour.limit, hour.lengthMs);
      refund = () => redis.zrem(key, member);
    } catch {
      answer = local.charge(keyId, member);
      refund = () => local.refund(keyId, member);
    }
    const headers = limitHeaders(answer);
    if (!answer[0]) throw refusal(answer, headers);
    return {
      headers,
      refund: async () => {
        try {
          await refund();
        } catch {
          // The key then has one creation less for this hour: better than an error on top of the first.
        }
      },
    };
  };
}

function refusal(answer: SlidingLogAnswer, headers: Record<string, string>): AppError {
  const [, minuteHeld, minuteFrees, hourHeld, hourFrees] = answer;
  const waitMs = Math.max(minuteHeld >= minute.limit ? minuteFrees : 0, hourHeld >= hour.limit ? hourFrees : 0);
  return new AppError('rate_limited', { headers: { ...headers, 'Retry-After': String(seconds(waitMs)) } });
}

const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000));

function limitHeaders([, minuteHeld, minuteFrees, hourHeld, hourFrees]: SlidingLogAnswer): Record<string, string> {
  const item = (name: string, left: number, freesMs: number) =>
    `"${name}";r=${Math.max(0, left)};t=${seconds(freesMs)}`;
  return {
    'RateLimit-Policy': windows
      .map(({ name, limit, lengthMs }) => `"${name}";q=${limit};w=${lengthMs / 1_000}`)
      .join(', '),
    RateLimit: [
      item(minute.name, minute.limit - minuteHeld, minuteFrees),
      item(hour.name, hour.limit - hourHeld, hourFrees),
    ].join(', '),
  };
}

/** The same log in this process, for as long as Redis is away. */
function localLog(now: () => number) {
  const logs = new Map<string, { member: string; at: number }[]>();
  return {
    charge(keyId: string, member: string): SlidingLogAnswer {
      const at = now();
      forgetOld(logs, at);
      const log = logs.get(keyId) ?? [];
      const inMinute = log.filter((entry) => entry.at > at - minute.lengthMs);
      const charged = inMinute.length < minute.limit && log.length < hour.limit;
      if (charged) {
        for (const list of [log, inMinute]) list.push({ member, at });
        logs.set(keyId, log);
      }
      const frees = (list: { at: number }[], lengthMs: number) => (list[0] ? list[0].at + lengthMs - at : 0);
      return [
        Number(charged),
        inMinute.length,
        frees(inMinute, minute.lengthMs),
        log.length,
        frees(log, hour.lengthMs),
      ];
    },
    refund(keyId: string, member: string): void {
      logs.set(keyId, logs.get(keyId)?.filter((entry) => entry.member !== member) ?? []);
    },
  };
}

function forgetOld(logs: Map<string, { at: number }[]>, at: number): void {
  for (const [keyId, log] of logs) {
    while (log[0] && log[0].at <= at - hour.lengthMs) log.shift();
    if (log.length === 0) logs.delete(keyId);
  }
}
