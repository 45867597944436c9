import { batch } from '../../base/mongo/batch.ts';
import { type FeedCursor, type FeedPage, readFeed } from './event-feed.ts';
import type { FeedMark } from './raise-feed-mark.ts';

interface FeedRequest {
  keyId: string;
  after: FeedCursor | null;
  limit: number;
}

/** A page, and the time up to which the feed was read (Unix ms). */
type ReadPage = FeedPage & { readUntil: number };

/** Batches reads: requests that wait at the same cursor wake up together and share one read. */
export const batchedFeedReads = (feed: FeedMark): ((request: FeedRequest) => Promise<ReadPage>) =>
  batch<FeedRequest, ReadPage>(async (requests) => {
    const readUntil = await feed.shownUntil();
    const read = async ({ keyId, after, limit }: FeedRequest): Promise<ReadPage> => {
      const page = await readFeed(keyId, after, limit, readUntil);
      if (page.unshown) feed.reach(page.unshown);
      return { ...page, readUntil };
    };
    const reads = new Map<string, Promise<ReadPage | Error>>();
    const readOnce = (request: FeedRequest) => {
      const id = JSON.stringify(request);
      const started = reads.get(id) ?? read(request).catch((error: Error) => error);
      reads.set(id, started);
      return started;
    };
    return Promise.all(requests.map(readOnce));
  });
