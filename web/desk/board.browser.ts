import { followRide } from '../kit/browser/follow.ts';
import { showLocalTimes } from '../kit/browser/local-times.ts';
import type { BoardState } from './board-state.ts';
import { findInPlace, sendFormsInPlace } from './browser/board-forms.ts';
import { showBoard } from './browser/board-rows.ts';
import { isSoundOn, playSound } from './browser/board-sound.ts';
import { leave, showStop } from './browser/board-stop.ts';

/** The script of a page with a board. */

const byId = (id: string) => document.getElementById(id);
const { path = '', state = '' } = (byId('board') as HTMLElement).dataset;
const first = JSON.parse(state) as BoardState;
const [connection, message, news, below] = ['connection', 'board-message', 'board-news', 'board-below'].map(byId);
const isWall = document.body.classList.contains('wall');
const title = document.title;

function offersOnBoard(): Set<string> {
  return new Set([...document.querySelectorAll('.board-offers > li')].map(({ id }) => id));
}
let offers = offersOnBoard();

/** Shows a state, and requests the rows that the page lacks. */
function show(board: BoardState): void {
  if (!apply(board)) void refresh();
}

/** Returns false if the page lacks a row. */
function apply(board: BoardState): boolean {
  // Another key or account: the rest of the page is wrong too.
  if (board.of !== first.of) {
    leave('changed', reload);
    return true;
  }
  showStop();
  const isComplete = showBoard(board);
  document.title = board.concerns > 0 ? `(${board.concerns}) ${title}` : title;
  const time = news?.querySelector('time');
  if (time && news) {
    time.dateTime = new Date(board.now).toISOString();
    showLocalTimes(news);
  }
  const before = offers;
  offers = offersOnBoard();
  if ([...offers].some((offerId) => !before.has(offerId))) void playSound();
  return isComplete;
}

let isWanted = false;
let isRefreshing = false;

/** Fetches the whole board, and retries until that works. A call during a fetch leads to one more fetch afterwards. */
async function refresh(): Promise<void> {
  isWanted = true;
  if (isRefreshing) return;
  isRefreshing = true;
  for (let failures = 0; isWanted; ) {
    isWanted = false;
    const status = await readAll().catch(() => 0);
    if ([200, 401, 403].includes(status)) continue;
    isWanted = true;
    failures += 1;
    const waitMs = Math.min(30_000, 500 * 2 ** failures);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
  isRefreshing = false;
}

/** Reads and shows the board. Resolves with the status of the answer. */
async function readAll(): Promise<number> {
  const answer = await fetch(`${path}/state?rows`, { cache: 'no-store' });
  if (answer.ok) apply((await answer.json()) as BoardState);
  // Without a session, the page redirects to the sign-in page, which leads back here.
  if (answer.status === 401) leave('signed-out', reload);
  // The role of the person no longer allows the desk, so what they have typed is of no use.
  if (answer.status === 403) reload();
  return answer.status;
}

const reload = () => location.reload();

const signInPollMs = 10_000;

/** Follows the board again once the person has signed in in another tab. */
async function waitForSession(): Promise<void> {
  const status = await readAll().catch(() => 0);
  if (status === 200) follow();
  else setTimeout(waitForSession, signInPollMs);
}

function say(text: string, isBad: boolean): void {
  if (!message) return;
  message.hidden = text === '';
  message.textContent = text;
  message.classList.toggle('bad', isBad);
}

function follow(): void {
  followRide(path, first, {
    isLast: () => false,
    onState: show,
    onConnection: (isGood) => {
      if (connection) connection.hidden = isGood;
    },
    onSignedOut: () => void waitForSession(),
    sharedAs: `${path} ${first.of}`,
    followsHidden: () => isWall || isSoundOn(),
  });
}
follow();
sendFormsInPlace({ say, refresh: () => void refresh(), leave: (go) => leave('signed-out', go) });
findInPlace(say);

/** A wall screen cannot be scrolled, so it says how many rides are below its edge. */
function countBelow(): void {
  if (!below) return;
  const rows = [...document.querySelectorAll('#board-list > .board-ride')];
  const hidden = rows.filter((row) => row.getBoundingClientRect().bottom > innerHeight).length;
  below.hidden = hidden === 0;
  below.textContent = `${hidden} more ${hidden === 1 ? 'ride' : 'rides'} below`;
}
if (isWall) {
  byId('board-list')?.addEventListener('arranged', countBelow);
  addEventListener('resize', countBelow);
  countBelow();
}
