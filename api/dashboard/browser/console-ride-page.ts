import { followRide } from '../../pages/browser/follow.ts';
import type { ConsoleState } from '../console/console-state.ts';
import { patch } from './patch.ts';

const [connection, spoken] = ['connection', 'spoken'].map((id) => document.getElementById(id) as HTMLElement);
const first = JSON.parse(document.getElementById('ride')?.dataset.state ?? '') as ConsoleState;
let latest = first.latest;

function show(state: ConsoleState): void {
  const live = document.getElementById('live') as HTMLElement;
  const fresh = new DOMParser().parseFromString(state.html, 'text/html').getElementById('live') as HTMLElement;
  const hadFocus = live.contains(document.activeElement);
  patch(live, fresh);
  // If the update removed the focused button, the focus moves to the offers.
  if (hadFocus && !live.contains(document.activeElement)) document.getElementById('offers')?.focus();
  if (spoken && state.latest !== latest) spoken.textContent = state.latest;
  latest = state.latest;
}

followRide(location.pathname.replace(/\/$/, ''), first, {
  isLast: ({ isOver }) => isOver,
  onState: show,
  onConnection: (isGood) => {
    if (connection) connection.hidden = isGood;
  },
  // Without a session, the page redirects to the sign-in page, which leads back here.
  onSignedOut: () => location.reload(),
});
