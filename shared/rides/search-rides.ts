import { findAll, findAmong } from '../base/mongo/collection.ts';
import { committedReads } from '../base/mongo/durability.ts';
import {
  idsWithin,
  type ListedRide,
  listedFields,
  oneOfStatuses,
  type RideFilter,
  type RidesOwner,
} from './list-rides.ts';
import { rides, searchIndex } from './ride.ts';
import type { Ride } from './ride-types.ts';

/** The most ids that are read for one word of a search. */
const mostRead = 500;

/** The newest rides with a word. `isCut`: there are more. */
interface Posting {
  ids: string[];
  isCut: boolean;
}

/**
 * A page of an account's rides that have all of these words (`searchWords`) and match the filter, newest first. `next`
 * is the id after which the next page starts, if older rides may match. Costs the same for a thousand rides and for
 * millions: it reads the newest 500 index entries of each word, and then only the rides of the rarest word. So a page
 * of several frequent words can be short, or empty, although `next` leads to more.
 */
export async function searchRides(
  words: readonly string[],
  filter: RideFilter,
  limit: number,
  owner: RidesOwner,
): Promise<{ rides: ListedRide[]; next?: string }> {
  const postings = await Promise.all(words.map((word) => newestWith(word, filter, owner)));
  const [rarest, ...others] = postings.sort((a, b) => a.ids.length - b.ids.length);
  if (!rarest) return { rides: [] };
  const sets = others.map((posting) => ({ ...posting, known: new Set(posting.ids) }));
  const candidates = rarest.ids.filter((id) =>
    sets.every(({ known, isCut, ids }) => known.has(id) || (isCut && id < (ids.at(-1) ?? ''))),
  );
  const found = await matching(candidates, words, filter, limit + 1, owner);
  const shown = found.slice(0, limit);
  const isMore = found.length > limit;
  return { rides: shown, next: isMore ? shown.at(-1)?._id : rarest.isCut ? rarest.ids.at(-1) : undefined };
}

/** Reads only the index, whose last field is the id. */
async function newestWith(word: string, filter: RideFilter, { accountId }: RidesOwner): Promise<Posting> {
  const order = { hint: searchIndex, sort: { _id: -1 }, limit: mostRead } as const;
  const options = { ...committedReads(), projection: { _id: 1 }, ...order };
  const found = await findAll(rides, { accountId, searchTerms: word, ...idsWithin(filter) }, options);
  return { ids: found.map(({ _id }) => _id), isCut: found.length === mostRead };
}

/** The rides among the candidates that have all words and match the filter. */
const matching = (
  candidates: readonly string[],
  words: readonly string[],
  { keyId, mode, status }: RideFilter,
  limit: number,
  { accountId }: RidesOwner,
): Promise<ListedRide[]> =>
  findAmong<Ride, ListedRide>(
    rides,
    candidates,
    listedFields,
    {
      accountId,
      searchTerms: { $all: [...words] },
      ...(keyId !== undefined && { keyId }),
      ...(mode && { mode }),
      status: oneOfStatuses({ status }),
    },
    { ...committedReads(), sort: { _id: -1 }, limit },
  );
