import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { areUnique } from './job-ids.ts';

/** `active`: a worker has it, or had it and died; BullMQ gives the second kind to another worker. */
export type JobState = 'missing' | 'waiting' | 'active';

export interface WantedJob {
  /** The dedupe id. */
  id: string;
  /** A delayed job that is due later than this (Unix ms) counts as missing: adding replaces it. */
  latestAt: number;
}

/** A job id that a dedupe key names. */
interface NamedJob extends WantedJob {
  jobId: string;
}

/** The jobs that are taken next are read to see who waits. A list that is not longer is known in whole. */
const windowLength = 1_000;
/** Producers' clocks may differ by this much, so the order of jobs is only certain beyond it. */
const orderMs = 5_000;
/** The score of a delayed job is its due time times this (BullMQ). */
const scorePerMs = 0x1000;

/**
 * Where these jobs of a queue really are. BullMQ swallows an add while its dedupe key names a job whose hash exists, also
 * where the list that held the job is lost. Such remains are removed here, so that the next add is accepted. A job counts
 * as waiting where the list is too long to be sure; it is found to be missing when the list has moved on.
 */
export async function findJobs(redis: Redis, queue: Queue, wanted: readonly WantedJob[]): Promise<JobState[]> {
  if (wanted.length === 0) return [];
  const jobIds = await redis.mget(wanted.map(({ id }) => dedupeKey(queue, id)));
  const named = wanted.flatMap((job, index): NamedJob[] => {
    const jobId = jobIds[index];
    return jobId ? [{ ...job, jobId }] : [];
  });
  const states = named.length > 0 ? await statesOf(redis, queue, named) : new Map<string, JobState>();
  return wanted.map(({ id }) => states.get(id) ?? 'missing');
}

async function statesOf(redis: Redis, queue: Queue, named: readonly NamedJob[]): Promise<Map<string, JobState>> {
  const { scores, next, areSound } = await look(redis, queue, named);
  const states = new Map<string, JobState>();
  const doubtful: NamedJob[] = [];
  for (const [index, job] of named.entries()) {
    const score = scores[index] ?? null;
    if (score !== null) states.set(job.id, Number(score) / scorePerMs <= job.latestAt ? 'waiting' : 'missing');
    else if (next.has(job.jobId) || isBehind(job.jobId, next)) states.set(job.id, 'waiting');
    if (!areSound || !states.has(job.id)) doubtful.push(job);
  }
  if (doubtful.length > 0) await lookCloser(redis, queue, doubtful, next, states);
  return states;
}

/** The jobs of the list that are taken next. */
interface Next {
  has(jobId: string): boolean;
  /** The job that is taken last of these, where the list is longer. */
  last: string | null;
}

function nextOf(window: readonly string[]): Next {
  const jobIds = new Set(window);
  return { has: (jobId) => jobIds.has(jobId), last: window.length < windowLength ? null : (window[0] ?? null) };
}

/** Added after the last job that was read of a longer list, so its place is behind it, if it has one. */
const isBehind = (jobId: string, { last }: Next): boolean => last !== null && Number(jobId) > Number(last);

const dedupeKey = (queue: Queue, id: string): string => queue.toKey(`de:${id}`);

/** One transaction, so that no job moves from one list to another while they are read. */
async function look(redis: Redis, queue: Queue, named: readonly NamedJob[]) {
  const jobIds = named.map(({ jobId }) => jobId);
  const [scores, window, existing] =
    (await redis
      .multi()
      .zmscore(queue.toKey('delayed'), ...jobIds)
      .lrange(queue.toKey('wait'), -windowLength, -1)
      .exists(jobIds.map((jobId) => queue.toKey(jobId)))
      .exec()) ?? [];
  return {
    scores: answerOf<(string | null)[]>(scores),
    next: nextOf(answerOf<string[]>(window)),
    /** Every job has its hash, and none has the id of another. */
    areSound: answerOf<number>(existing) === named.length && areUnique(jobIds),
  };
}

/** Reads the jobs themselves, where they are in no list or may not be what their ids say. Removes the remains. */
async function lookCloser(
  redis: Redis,
  queue: Queue,
  doubtful: readonly NamedJob[],
  next: Next,
  states: Map<string, JobState>,
): Promise<void> {
  const reads = redis.multi().mget(doubtful.map(({ id }) => dedupeKey(queue, id)));
  reads.hmget(queue.toKey(next.last ?? ''), 'timestamp', 'opts');
  for (const { jobId } of doubtful) {
    reads.hmget(queue.toKey(jobId), 'deid', 'timestamp', 'opts').exists(queue.toKey(`${jobId}:lock`));
    reads.lpos(queue.toKey('active'), jobId);
  }
  const [names, lastTimes, ...answers] = (await reads.exec()) ?? [];
  const jobIds = answerOf<(string | null)[]>(names);
  // The list is first in, first out: what entered before the last of the window is in it, or is not in the list.
  const certainUntil = next.last === null ? Number.POSITIVE_INFINITY : enteredAt(answerOf(lastTimes)) - orderMs;
  const remains: string[] = [];
  for (const [index, job] of doubtful.entries()) {
    const [hash, lock, place] = answers.slice(3 * index);
    // What cannot be read as a hash is no job: it is removed like the rest of a lost one.
    const [ownId = null, ...times] = (hash?.[1] ?? []) as (string | null)[];
    const hasEnded = jobIds[index] !== job.jobId;
    const isActive = answerOf<number>(lock) === 1 || answerOf<number | null>(place) !== null || hasEnded;
    if (ownId === job.id && states.has(job.id)) continue;
    if (ownId === job.id && isActive) states.set(job.id, 'active');
    else if (ownId === job.id && enteredAt(times) >= certainUntil) states.set(job.id, 'waiting');
    else {
      states.set(job.id, 'missing');
      const isOfAnother = ownId !== null && ownId !== job.id;
      remains.push(isOfAnother ? dedupeKey(queue, job.id) : queue.toKey(job.jobId));
    }
  }
  if (remains.length > 0) await redis.del(remains);
}

/** When a job came into the list of those that wait: when it was added, or when its delay was over. */
function enteredAt([timestamp, opts]: (string | null | undefined)[]): number {
  const { delay = 0 } = JSON.parse(opts ?? '{}') as { delay?: number };
  return Number(timestamp ?? 0) + delay;
}

function answerOf<T>(result: [Error | null, unknown] | undefined): T {
  if (!result) throw new Error('Redis gave no answer');
  const [error, value] = result;
  if (error) throw error;
  return value as T;
}
