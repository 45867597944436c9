import { followRide } from '../../pages/browser/follow.ts';
import type { BoardState } from '../desk/board-state.ts';
import { findInPlace, sendFormsInPlace } from './board-forms.ts';
import { showBoard } from './board-rows.ts';
import { isSoundOn, playSound } from './board-sound.ts';
import { showLocalTimes } from './local-times.ts';

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

function apply(board: BoardState): boolean {
  const isComplete = showBoard(board);
  document.title = board.needs > 0 ? `(${board.needs}) ${title}` : title;
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

let isRefreshing = false;

/** Requests the whole board. */
async function refresh(): Promise<void> {
  if (isRefreshing) return;
  isRefreshing = true;
  try {
    const answer = await fetch(`${path}/state?rows`, { cache: 'no-store' });
    if (answer.status === 401) location.reload();
    if (answer.ok) apply((await answer.json()) as BoardState);
  } catch {
    // The stream brings the next state.
  } finally {
    isRefreshing = false;
  }
}

function say(text: string, isBad: boolean): void {
  if (!message) return;
  message.hidden = text === '';
  message.textContent = text;
  message.classList.toggle('bad', isBad);
}

followRide(path, first, {
  isLast: () => false,
  onState: show,
  onConnection: (isGood) => {
    if (connection) connection.hidden = isGood;
  },
  // Without a session, the page redirects to the sign-in page, which leads back here.
  onSignedOut: () => location.reload(),
  followsHidden: () => isWall || isSoundOn(),
});
sendFormsInPlace({ say, refresh: () => void refresh() });
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
