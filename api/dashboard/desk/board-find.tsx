import type { Mode } from '../../../shared/base/terms.ts';
import type { ListedRide } from '../../../shared/rides/list-rides.ts';
import { searchRides } from '../../../shared/rides/search-rides.ts';
import { searchWords } from '../../../shared/rides/search-terms.ts';
import { counted, placeText, StatusPill, Time } from '../../../web/kit/facts.tsx';
import { deskPath, ridePath } from '../../../web/kit/paths.ts';
import { nameOf } from '../../../web/kit/rides-table.tsx';
import type { PageRequest } from '../page-routes.ts';
import { RideLinks } from '../rides/ride-links.tsx';

const mostFound = 10;

/** The newest rides with all words of a typed text. */
export interface FoundRides {
  text: string;
  rides: readonly ListedRide[];
  hasMore: boolean;
}

/** The rides of the account's mode that have all words of a text; undefined for an empty text. */
export async function findRides(
  text: string,
  mode: Mode,
  owner: PageRequest['owner'],
): Promise<FoundRides | undefined> {
  const words = searchWords(text);
  if (words.length === 0) return undefined;
  const { rides, next } = await searchRides(words, { mode }, mostFound, owner);
  return { text, rides, hasMore: next !== undefined };
}

/** The search field, and what it has found. A script fetches and shows the found rides in place. */
export function Find({ found }: { found?: FoundRides }) {
  return (
    <search class="board-find">
      <form method="get" action={deskPath()} id="board-find" class="search">
        <input
          name="find"
          type="search"
          value={found?.text}
          aria-label="Find a ride"
          placeholder="Passenger, room or reference"
          maxLength={200}
          autocomplete="off"
          spellcheck={false}
        />
        <button class="btn second" type="submit">
          Find
        </button>
      </form>
      <div id="found">{found && <Found found={found} />}</div>
    </search>
  );
}

function Found({ found: { text, rides, hasMore } }: { found: FoundRides }) {
  const count = hasMore ? `The newest ${rides.length} rides` : counted(rides.length, 'ride');
  return (
    <section class="found" aria-labelledby="found-title" id="found-rides">
      <div class="section-head">
        <h3 id="found-title" tabIndex={-1}>
          {rides.length === 0 ? `No ride with “${text}”` : `${count} with “${text}”`}
        </h3>
        <a href={deskPath()} id="found-close">
          Close
        </a>
      </div>
      {rides.length === 0 && (
        <p class="quiet">The search compares whole words of passenger, phone, reference and addresses.</p>
      )}
      <ul>
        {rides.map((ride) => (
          <li key={ride._id} class="board-ride">
            <div class="board-head">
              <h4>
                <a href={ridePath(ride._id)}>{nameOf(ride)}</a>{' '}
                {ride.passenger?.name && ride.reference && <span class="board-reference">{ride.reference}</span>}
              </h4>
              <StatusPill status={ride.status} />
              <Time at={ride.pickupAt ?? ride.createdAt} />
            </div>
            <p class="board-trip">
              {placeText(ride.pickup)} <span class="quiet">to</span> {placeText(ride.destination)}
            </p>
            <RideLinks ride={ride} />
          </li>
        ))}
      </ul>
    </section>
  );
}
