import { setTimeout } from 'node:timers/promises';
import type { NewKey } from '../../../shared/keys/manage-keys.ts';
import { oneOf, type Random } from '../random.ts';
import type { World } from '../world/world.ts';
import { type Answer, type Connections, closeAll, request } from './request.ts';

/** One partner that follows the feed of its key, and all events that it received, in order. */
export interface FeedReader {
  keyId: string;
  /** Reads from the first event ever, or from the current end of the feed. */
  from: 'start' | 'now';
  /** When its first cursor was answered, in Unix ms; 0 for a reader from the start. */
  beganAt: number;
  events: { rideId: string; seq: number; at: number; seenAt: number }[];
  calls: (Answer & { api: string })[];
}

export type FeedReaders = ReturnType<typeof startFeedReaders>;

/** Feeds show events 3 s after their time. After this longer time, an empty page means the end of the feed. */
const endOfFeedMs = 4_000;

/**
 * Starts two readers for each key, one from the first event and one from now. They use random API processes and long
 * polls.
 */
export function startFeedReaders(world: World, keys: readonly NewKey[], random: Random) {
  const connections: Connections = new Map();
  let stoppedAt = Number.POSITIVE_INFINITY;

  async function follow(reader: FeedReader, key: string): Promise<void> {
    let cursor = reader.from === 'now' ? 'now' : '';
    for (;;) {
      const api = oneOf(random, world.apis);
      const askedAt = Date.now();
      const limit = 1 + Math.floor(random() * 100);
      const wait = random() < 0.7 ? '&waitSeconds=2' : '';
      const url = `${api.url}/v1/events?limit=${limit}&after=${encodeURIComponent(cursor)}${wait}`;
      const answer = await request(connections, { method: 'GET', url, key });
      reader.calls.push({ ...answer, body: answer.body && {}, text: '', api: api.name });
      const page = answer.status === 200 ? answer.body : undefined;
      if (cursor === 'now' && page) reader.beganAt = askedAt + answer.ms;
      for (const { rideId, seq, at } of page?.events ?? []) reader.events.push({ rideId, seq, at, seenAt: Date.now() });
      cursor = page?.cursor ?? cursor;
      const isAtEnd = page && page.events.length === 0 && !page.hasMore;
      if (isAtEnd && askedAt > stoppedAt + endOfFeedMs) return;
      if (!page || !wait || stoppedAt < askedAt) await setTimeout(300);
    }
  }

  const readers = keys.flatMap(({ keyId }) =>
    (['start', 'now'] as const).map((from): FeedReader => ({ keyId, from, beganAt: 0, events: [], calls: [] })),
  );
  const done = readers.map((reader) => follow(reader, keys.find(({ keyId }) => keyId === reader.keyId)?.key ?? ''));
  return {
    /** Reads to the end of each feed and resolves with the readers. Call it when no new events can occur. */
    async stop() {
      stoppedAt = Math.min(stoppedAt, Date.now());
      await Promise.all(done);
      closeAll(connections);
      return readers;
    },
  };
}
