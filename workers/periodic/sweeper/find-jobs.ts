import type { Queue } from 'bullmq';
import type { RedisClient } from '../../../shared/base/redis/redis-nodes.ts';

/** `active`: a worker has the job, or had it and died. BullMQ gives the job of a dead worker to another one. */
export type JobState = 'missing' | 'waiting' | 'active';

interface WantedJob {
  /** The dedupe id. */
  id: string;
  /** A delayed job that is due later than this (Unix ms) counts as missing: adding replaces it. */
  latestAt: number;
}

/** A wanted job, with the job id that its dedupe key contains. */
interface NamedJob extends WantedJob {
  jobId: string;
}

/** At most this many jobs are read from the head of the list of waiting jobs. A shorter list is read completely. */
const maxHeadJobs = 1_000;
/**
 * The clocks of the processes that add jobs may differ by this much. Only a larger difference proves which of two jobs
 * came first.
 */
const maxClockDifferenceMs = 5_000;
/** BullMQ's score of a delayed job is its due time (Unix ms) times this. */
const scorePerMs = 0x1000;

/**
 * Finds the real states of these jobs of a queue. BullMQ ignores a new job while its dedupe key points to a job whose
 * hash exists, even if the list that held that job is lost. This function removes such leftovers, so that BullMQ
 * accepts the job the next time.
 *
 * The list of waiting jobs may be too long to read completely. A job that may be in the unread part counts as waiting.
 * A later call finds its real state, when the list has moved on.
 *
 * The keys that this function reads are internal to BullMQ, so package.json pins 6.7.0 exactly. Adding overdue jobs again
 * without a look at the keys would not do: BullMQ would ignore each job that has a leftover, for ever and without a word.
 */
export async function findJobs(redis: RedisClient, queue: Queue, wanted: readonly WantedJob[]): Promise<JobState[]> {
  if (wanted.length === 0) return [];
  const jobIds = await redis.mget(wanted.map(({ id }) => dedupeKey(queue, id)));
  const named = wanted.flatMap((job, index): NamedJob[] => {
    const jobId = jobIds[index];
    return jobId ? [{ ...job, jobId }] : [];
  });
  const states = named.length > 0 ? await statesOf(redis, queue, named) : new Map<string, JobState>();
  return wanted.map(({ id }) => states.get(id) ?? 'missing');
}

async function statesOf(redis: RedisClient, queue: Queue, named: readonly NamedJob[]): Promise<Map<string, JobState>> {
  const { scores, head, areConsistent } = await readLists(redis, queue, named);
  const states = new Map<string, JobState>();
  const uncertain: NamedJob[] = [];
  for (const [index, job] of named.entries()) {
    const score = scores[index] ?? null;
    if (score !== null) states.set(job.id, Number(score) / scorePerMs <= job.latestAt ? 'waiting' : 'missing');
    else if (head.has(job.jobId) || isBehind(job.jobId, head)) states.set(job.id, 'waiting');
    if (!areConsistent || !states.has(job.id)) uncertain.push(job);
  }
  if (uncertain.length > 0) await readJobs(redis, queue, uncertain, head, states);
  return states;
}

/** The head of the list of waiting jobs: the jobs that workers fetch next. */
interface Head {
  has(jobId: string): boolean;
  /** The last job of the head, or null when the head is the whole list. */
  last: string | null;
}

function headOf(list: readonly string[]): Head {
  const jobIds = new Set(list);
  return { has: (jobId) => jobIds.has(jobId), last: list.length < maxHeadJobs ? null : (list[0] ?? null) };
}

/**
 * Job ids increase: a job with a higher id than the last one of the head is further back, if it is in the list at all.
 */
const isBehind = (jobId: string, { last }: Head): boolean => last !== null && Number(jobId) > Number(last);

const dedupeKey = (queue: Queue, id: string): string => queue.toKey(`de:${id}`);

/** Reads in one transaction, so that no job moves between the lists in the meantime. */
async function readLists(redis: RedisClient, queue: Queue, named: readonly NamedJob[]) {
  const jobIds = named.map(({ jobId }) => jobId);
  const [scores, list, existing] =
    (await redis
      .multi()
      .zmscore(queue.toKey('delayed'), ...jobIds)
      .lrange(queue.toKey('wait'), -maxHeadJobs, -1)
      .exists(jobIds.map((jobId) => queue.toKey(jobId)))
      .exec()) ?? [];
  return {
    scores: answerOf<(string | null)[]>(scores),
    head: headOf(answerOf<string[]>(list)),
    /** True if every job has its hash and no two jobs share an id. */
    areConsistent: answerOf<number>(existing) === named.length && areUnique(jobIds),
  };
}

/** Reads the hashes of the jobs that are in no list, or that may belong to another dedupe id. Removes leftovers. */
async function readJobs(
  redis: RedisClient,
  queue: Queue,
  uncertain: readonly NamedJob[],
  head: Head,
  states: Map<string, JobState>,
): Promise<void> {
  const reads = redis.multi().mget(uncertain.map(({ id }) => dedupeKey(queue, id)));
  reads.hmget(queue.toKey(head.last ?? ''), 'timestamp', 'opts');
  for (const { jobId } of uncertain) {
    reads.hmget(queue.toKey(jobId), 'deid', 'timestamp', 'opts').exists(queue.toKey(`${jobId}:lock`));
    reads.lpos(queue.toKey('active'), jobId);
  }
  const [names, lastTimes, ...answers] = (await reads.exec()) ?? [];
  const jobIds = answerOf<(string | null)[]>(names);
  // The list is first in, first out: a job that entered before the head's last job is in the head, or not in the list.
  const certainUntil =
    head.last === null ? Number.POSITIVE_INFINITY : enteredAt(answerOf(lastTimes)) - maxClockDifferenceMs;
  const leftovers: string[] = [];
  for (const [index, job] of uncertain.entries()) {
    const [hash, lock, place] = answers.slice(3 * index);
    // A key that cannot be read as a hash is not a job: it is removed like the leftovers of a lost job.
    const [ownId = null, ...times] = (hash?.[1] ?? []) as (string | null)[];
    const hasEnded = jobIds[index] !== job.jobId;
    const isActive = answerOf<number>(lock) === 1 || answerOf<number | null>(place) !== null || hasEnded;
    if (ownId === job.id && states.has(job.id)) continue;
    if (ownId === job.id && isActive) states.set(job.id, 'active');
    else if (ownId === job.id && enteredAt(times) >= certainUntil) states.set(job.id, 'waiting');
    else {
      states.set(job.id, 'missing');
      const isOfAnother = ownId !== null && ownId !== job.id;
      leftovers.push(isOfAnother ? dedupeKey(queue, job.id) : queue.toKey(job.jobId));
    }
  }
  if (leftovers.length > 0) await redis.del(leftovers);
}

/** When a job entered the list of waiting jobs (Unix ms): when it was added, or when its delay ended. */
function enteredAt([timestamp, opts]: (string | null | undefined)[]): number {
  const { delay = 0 } = JSON.parse(opts ?? '{}') as { delay?: number };
  return Number(timestamp ?? 0) + delay;
}

function answerOf<T>(result: [Error | null, unknown] | undefined): T {
  if (!result) throw new Error('no reply from Redis');
  const [error, value] = result;
  if (error) throw error;
  return value as T;
}

/**
 * The smallest id of a counter that `keepJobIdsUnique` has set. It is larger than any number of jobs, and has fewer
 * than 15 digits, because BullMQ writes job ids in Lua, which prints at most 14.
 */
const smallestUniqueId = 1e12;

/**
 * Prevents a job id from being used twice. If a queue loses its counter, BullMQ counts from 1 again and overwrites the
 * jobs with these ids. This function sets a lost counter to the current Unix ms, which is above all earlier ids if the
 * queue gets fewer than 1,000 jobs a second on average.
 */
export async function keepJobIdsUnique(redis: RedisClient, queue: Queue, nowMs: number): Promise<void> {
  const key = queue.toKey('id');
  if (Number(await redis.get(key)) < smallestUniqueId) await redis.incrby(key, Math.floor(nowMs));
}

/** True if these ids come from a counter that `keepJobIdsUnique` started: no other job has ever had one of them. */
const areUnique = (jobIds: readonly string[]): boolean => jobIds.every((id) => Number(id) >= smallestUniqueId);
