import { followRide } from '../kit/browser/follow.ts';
import { livePart, refresh } from '../kit/browser/live-part.ts';
import { createRideMap } from './browser/create-ride-map.ts';
import type { RideNews } from './ride-news.ts';

/** The script of a ride's page: the page has new content whenever the version in the ride's stream changes. */

const { path = '', here, news = '' } = (document.getElementById('ride') as HTMLElement).dataset;
const [container, connection, said] = ['ride-map', 'connection', 'said'].map((id) => document.getElementById(id));
const first = JSON.parse(news) as RideNews;
const map = container && first.map ? createRideMap(container, first.map) : null;
let version = first.version;

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/** Shows what the page's address has now: that the page is gone, or the sign-in page, which leads back here. */
const showInstead = () => location.reload();

/**
 * Shows the new content, and reports the latest entry of the timeline to screen readers. Tries again until the page was
 * fetched, or the news of a newer version has arrived.
 */
async function showChange(): Promise<void> {
  const wanted = version;
  const before = livePart()?.dataset.latest;
  let result = await refresh();
  for (let pauseMs = firstPauseMs; result === 'failed'; pauseMs = Math.min(2 * pauseMs, longestPauseMs)) {
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (version !== wanted) return;
    result = await refresh();
  }
  if (result === 'gone') return showInstead();
  const latest = livePart()?.dataset.latest;
  if (said && latest !== undefined && latest !== before) said.textContent = latest;
}

// A refused form is answered at its own address, which has no page to fetch again.
if (here) history.replaceState(null, '', here);

followRide(path, first, {
  isLast: ({ isOver }) => isOver,
  onState(state) {
    if (state.map) map?.show(state.map);
    if (state.version === version) return;
    version = state.version;
    void showChange();
  },
  onConnection(isGood) {
    if (connection) connection.hidden = isGood;
  },
  onSignedOut: showInstead,
});
