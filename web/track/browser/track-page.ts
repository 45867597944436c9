import { followRide } from '../../kit/browser/follow.ts';
import { languageOf } from '../../kit/message-format.ts';
import type { TrackState } from '../track-state.ts';
import type { MapLanguage } from '../track-words.ts';
import { createMovingMap } from './moving-map.ts';
import { createPanel, say } from './panel.ts';
import { offerShare, reportHelp, swipeDetails } from './sheet.ts';

const element = (id: string) => document.getElementById(id) as HTMLElement;
const first = JSON.parse(element('state').textContent) as TrackState;
const language: MapLanguage = languageOf(document.documentElement.lang, JSON.parse(element('texts').textContent));
const map = createMovingMap(element('map'), first);
const panel = createPanel(language);
let current = first;

function showTexts(): void {
  panel.show(current, map.now());
}

/** The address leads to the map of the new ride, as soon as that exists. */
function awaitNewRide({ endedBy }: TrackState): void {
  if (endedBy === 'replaced') setTimeout(() => location.reload(), 2_000);
}

awaitNewRide(first);
showTexts();
// The ETA and the age of the last report change with time.
setInterval(showTexts, 1_000);
swipeDetails(element('answer'), element('show-details') as HTMLInputElement);
offerShare(element('share'), language, say);
reportHelp(document.getElementById('help'));
followRide(location.pathname.replace(/\/$/, ''), first, {
  isLast: ({ status }) => status === 'completed' || status === 'cancelled',
  onState(state) {
    current = state;
    awaitNewRide(state);
    map.show(state);
    showTexts();
  },
  onConnection: panel.showConnection,
});
