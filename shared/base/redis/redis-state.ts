import { Cluster, type Redis } from 'ioredis';
import { RedisProblem, type RedisProblemName, redisProblemOf } from '../redis-problem.ts';
import { assertConnected, primariesOf, type RedisClient } from './redis-nodes.ts';

/** The last problem with which the connections of a client failed; unset while it is connected. */
const connectionProblems = new WeakMap<RedisClient, RedisProblemName>();

/** Notes why a client cannot connect. Without an error, it is connected. */
export function noteConnection(redis: RedisClient, error?: Error): void {
  const problem = error && redisProblemOf(error);
  if (problem) connectionProblems.set(redis, problem);
  else connectionProblems.delete(redis);
}

export interface RedisState {
  /** Set if Redis does not accept jobs. */
  problem?: RedisProblemName;
  /** The share of its memory that Redis uses: the highest of all primaries. Unset if unknown. */
  memoryShare?: number;
}

/** Reads whether all of Redis answers and accepts writes, within the clients' time limit. Never rejects. */
export async function readRedisState(redis: RedisClient): Promise<RedisState> {
  try {
    if (redis instanceof Cluster) assertConnected(redis);
    const states = await Promise.all(primariesOf(redis).map(stateOfServer));
    const shares = states.flatMap(({ memoryShare }) => memoryShare ?? []);
    return {
      problem: states.find(({ problem }) => problem)?.problem,
      ...(shares.length > 0 && { memoryShare: Math.max(...shares) }),
    };
  } catch (error) {
    return { problem: redisProblemOf(error) ?? connectionProblems.get(redis) ?? 'redis_away' };
  }
}

/** Throws RedisProblem unless every part of Redis answers and accepts writes. */
export async function assertRedisWorks(redis: RedisClient): Promise<void> {
  const { problem } = await readRedisState(redis);
  if (problem) throw new RedisProblem(problem);
}

/** Reads INFO, because Redis answers it also while it is full or loads its data, and a hosted Redis may forbid CONFIG. */
async function stateOfServer(server: Redis): Promise<RedisState> {
  const [memory, persistence] = await Promise.all([server.info('memory'), server.info('persistence')]).catch(
    async (error: Error) => {
      if (!error.message.includes('NOPERM')) throw error;
      await server.ping();
      return ['', ''] as const;
    },
  );
  const problem = problemIn(memory, persistence);
  const used = figureIn(memory, 'used_memory');
  const limit = figureIn(memory, 'maxmemory') || figureIn(memory, 'total_system_memory');
  return { ...(problem && { problem }), ...(limit > 0 && { memoryShare: used / limit }) };
}

function problemIn(memory: string, persistence: string): RedisProblemName | undefined {
  if (figureIn(persistence, 'loading') === 1) return 'redis_loading';
  if (persistence.includes('aof_last_write_status:err')) return 'redis_disk';
  const limit = figureIn(memory, 'maxmemory');
  const counted = figureIn(memory, 'used_memory') - figureIn(memory, 'mem_not_counted_for_evict');
  const evicts = /^maxmemory_policy:allkeys/m.test(memory);
  return limit > 0 && counted > limit && !evicts ? 'redis_full' : undefined;
}

const figureIn = (info: string, name: string): number =>
  Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
