import type { ComponentChildren } from 'preact';
import type { Mode } from '../../shared/base/terms.ts';
import type { ListedRide } from '../../shared/rides/list-rides.ts';
import { searchRides } from '../../shared/rides/search-rides.ts';
import { searchWords } from '../../shared/rides/search-terms.ts';
import type { Document, PageRequest } from '../kit/answer.ts';
import { counted, StatusPill, Time } from '../kit/facts.tsx';
import { deskPath, ridePath } from '../kit/paths.ts';
import { RideLinks, TripText } from '../kit/ride-parts.tsx';
import { nameOf } from '../kit/ride-words.ts';
import { type BoardView, stateOf } from './board-view.tsx';

/** The script of a page with a board. */
export const boardScript = 'board.browser.js';

/** The rides of the desk, with a field to find others. A script keeps it up to date (board.browser.ts). */
export function Board({ view, found }: { view: BoardView; found?: FoundRides }) {
  return (
    <BoardFrame view={view}>
      <div class="apart" id="board-tools">
        <SoundButton />
        <a class="hint" href={`${deskPath()}?wall`}>
          Wall screen
        </a>
      </div>
      <Find found={found} />
    </BoardFrame>
  );
}

/** The page of a screen on a wall: only the board, in large type. */
export const wallPage = (view: BoardView, isTest: boolean): Document => ({
  title: 'Desk',
  outside: 'wall',
  scripts: [boardScript],
  children: (
    <>
      {isTest && <p class="test-band">Test data</p>}
      <h1 class="spoken">Desk</h1>
      <BoardFrame view={view}>
        <div class="apart" id="board-tools">
          <SoundButton />
        </div>
      </BoardFrame>
      <p id="board-below" hidden />
    </>
  ),
});

function BoardFrame({ view, children }: { view: BoardView; children: ComponentChildren }) {
  const rows = [...view.rows.values()].map(({ html }) => html).join('');
  return (
    <section id="board" aria-labelledby="board-title" data-path={deskPath()} data-state={JSON.stringify(stateOf(view))}>
      <div class="board-top">
        <h2 id="board-title" class="spoken" tabIndex={-1}>
          Rides
        </h2>
        <div class="apart board-glance">
          <div role="status" dangerouslySetInnerHTML={{ __html: view.summary }} />
          <p class="hint" id="board-news">
            Last news <Time at={new Date(view.now)} form="time" />
          </p>
        </div>
        <p class="notice bad connection" id="connection" role="alert" hidden>
          Connection lost. Trying again…
        </p>
        <Stops />
        <p class="notice good" id="board-message" role="alert" hidden />
      </div>
      <noscript>
        <p class="notice">
          <span>
            Without scripts the board does not follow the rides: <a href={deskPath()}>reload it</a> for the latest
            state.
          </span>
        </p>
      </noscript>
      {children}
      <ul id="board-list" dangerouslySetInnerHTML={{ __html: rows }} />
      <dialog class="flow" id="board-dialog" aria-labelledby="board-question" />
    </section>
  );
}

/** Shown by a script instead of a reload that would lose what a person has typed (browser/board-stop.ts). */
const Stops = () => (
  <>
    <p class="notice bad" data-stop="signed-out" role="alert" hidden>
      <span>
        You are signed out, so the board has stopped. What you have typed stays here.{' '}
        <a href={deskPath()} target="_blank" rel="noopener">
          Sign in in a new tab
        </a>
        , then continue here.
      </span>
    </p>
    <p class="notice bad" data-stop="changed" role="alert" hidden>
      <span>
        Another account, or another key for the desk, was chosen. The rides below are those of the previous one. What
        you have typed stays here.{' '}
        <a href={deskPath()} target="_blank" rel="noopener">
          Open the desk in a new tab
        </a>
      </span>
    </p>
  </>
);

/** Hidden until a script shows it. The browser remembers the choice. */
const SoundButton = () => (
  <button type="button" class="btn second" id="board-sound" aria-pressed="false" hidden>
    Sound for new offers
  </button>
);

const mostFound = 10;

/** The newest rides with all words of a typed text. */
interface FoundRides {
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
function Find({ found }: { found?: FoundRides }) {
  return (
    <search>
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
    <section class="found card" aria-labelledby="found-title" id="found-rides">
      <div class="apart">
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
            <div class="apart">
              <h4>
                <a href={ridePath(ride._id)}>{nameOf(ride)}</a>{' '}
                {ride.passenger?.name && ride.reference && <span class="hint light">{ride.reference}</span>}
              </h4>
              <StatusPill status={ride.status} />
              <Time at={ride.pickupAt ?? ride.createdAt} />
            </div>
            <TripText ride={ride} />
            <RideLinks ride={ride} />
          </li>
        ))}
      </ul>
    </section>
  );
}
