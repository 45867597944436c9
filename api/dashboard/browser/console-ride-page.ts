import { followRide } from '../../../web/kit/browser/follow.ts';
import type { ConsoleState } from '../console/console-state.ts';
import { showLocalTimes } from './local-times.ts';
import { patch } from './patch.ts';
import { createRideMap } from './ride-map.ts';

const [connection, spoken, mapBox] = ['connection', 'spoken', 'ride-map'].map((id) => document.getElementById(id));
const { path = '', state = '' } = (document.getElementById('ride') as HTMLElement).dataset;
const first = JSON.parse(state) as ConsoleState;
const map = mapBox && first.map ? createRideMap(mapBox, first.map) : null;
let latest = first.latest;

function show(state: ConsoleState): void {
  const live = document.getElementById('live') as HTMLElement;
  const fresh = new DOMParser().parseFromString(state.html, 'text/html').getElementById('live') as HTMLElement;
  showLocalTimes(fresh);
  const hadFocus = live.contains(document.activeElement);
  patch(live, fresh);
  // If the update removed the focused button, the focus moves to the offers.
  if (hadFocus && !live.contains(document.activeElement)) document.getElementById('offers')?.focus();
  if (spoken && state.latest !== latest) spoken.textContent = state.latest;
  latest = state.latest;
  if (state.map) map?.show(state.map);
}

followRide(path, first, {
  isLast: ({ isOver }) => isOver,
  onState: show,
  onConnection: (isGood) => {
    if (connection) connection.hidden = isGood;
  },
  // Without a session, the page redirects to the sign-in page, which leads back here.
  onSignedOut: () => location.reload(),
});
