import type { NewKey } from '../../../shared/keys/manage-keys.ts';
import { settlePast } from '../check/past.ts';
import { seededRandom } from '../random.ts';
import type { World } from '../world/world.ts';
import { type FeedReader, startFeedReaders } from './feed-readers.ts';
import { keepAdding } from './past.ts';
import { startPeople } from './people.ts';
import type { Press } from './person.ts';

/** All who use the service beside partners that create rides, and drivers. */
export interface Crowd {
  log: Press[];
  /** People end what they do, and no further old rides are added. Resolves when the present ones are summed and erased. */
  goHome(): Promise<Press[]>;
  /** For when nothing happens any more. */
  readToEnd(): Promise<FeedReader[]>;
}

export interface CrowdOptions {
  /** How long each person pauses between two tasks, at most. */
  pauseMs?: number;
  /** No further old rides are added: the sums and the retention have one turn. */
  hasOneTurn?: boolean;
}

/** A worker process looks for a turn of the sums or of the retention every 75 s at the latest. */
const turnsMs = 120_000;
/** The first turn begins with the process. */
const turnMs = 15_000;

/** Starts people on the dashboard, two readers for the feed of each key, and what adds old rides. */
export function startCrowd(
  world: World,
  feedKeys: readonly NewKey[],
  seed: number,
  { pauseMs, hasOneTurn = false }: CrowdOptions = {},
): Crowd {
  const stopping = new AbortController();
  world.past.hasSecondTurn = !hasOneTurn;
  const people = startPeople(world, seededRandom(seed), { pauseMs });
  const feeds = startFeedReaders(world, feedKeys, seededRandom(seed + 1));
  const adding = hasOneTurn ? undefined : keepAdding(world, stopping.signal);
  return {
    log: people.log,
    async goHome() {
      stopping.abort();
      await adding;
      const [presses] = await Promise.all([
        people.stop(),
        settlePast(world, hasOneTurn ? turnMs : turnsMs, !hasOneTurn),
      ]);
      return presses;
    },
    readToEnd: () => feeds.stop(),
  };
}
