import type { NewKey } from '../../../shared/keys/manage-keys.ts';
import { settlePast } from '../check/past.ts';
import { seededRandom } from '../random.ts';
import type { World } from '../world/world.ts';
import { startFeedReaders } from './feed-readers.ts';
import type { Pace } from './pace.ts';
import { keepAdding } from './past.ts';
import { startPeople } from './people.ts';

/** All users of the service except drivers and the partners that create rides. */
export type Crowd = ReturnType<typeof startCrowd>;

export interface CrowdOptions {
  /** Longest pause of a person between two tasks. */
  pauseMs?: number;
  pace?: Pace;
  /** If true, no further old rides are added, so that the sums and the retention need to run only once. */
  hasOneTurn?: boolean;
}

/** Time limit for the sums and the retention: a worker process checks at least every 75 s whether they are due. */
const turnTimeoutMs = 120_000;
/** The same limit with `hasOneTurn`: the first run starts with the worker process. */
const firstTurnTimeoutMs = 15_000;

/** Starts people on the dashboard, two feed readers for each key, and a task that adds old rides. */
export function startCrowd(
  world: World,
  feedKeys: readonly NewKey[],
  seed: number,
  { pauseMs, pace, hasOneTurn = false }: CrowdOptions = {},
) {
  const stopping = new AbortController();
  world.past.hasSecondTurn = !hasOneTurn;
  const people = startPeople(world, seededRandom(seed), { pauseMs, pace });
  const feeds = startFeedReaders(world, feedKeys, seededRandom(seed + 1));
  const adding = hasOneTurn ? undefined : keepAdding(world, stopping.signal);
  return {
    log: people.log,
    /** Lets people finish their tasks and stops adding old rides. Resolves when the old rides are summed and erased. */
    async goHome() {
      stopping.abort();
      await adding;
      const [presses] = await Promise.all([
        people.stop(),
        settlePast(world, hasOneTurn ? firstTurnTimeoutMs : turnTimeoutMs, !hasOneTurn),
      ]);
      return presses;
    },
    /** Reads all feeds to their end. Call it when no new events can occur. */
    readToEnd: () => feeds.stop(),
  };
}
