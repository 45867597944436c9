import type { ShownTrips } from '../../../shared/rides/driver/driver-schemas.ts';
import { kilometers, money, positionWords } from '../drive-words.ts';
import { call, serverNow } from './call-gateway.ts';
import { element, setText } from './elements.ts';

/** The trips and earnings since midnight in the phone's time zone, and the state of the connection. */
export function createToday(sentAgoMs: () => number | null) {
  let isConnected: boolean | undefined;

  async function load(): Promise<void> {
    const answer = await call('GET', `/trips?since=${lastMidnight()}`);
    if (answer?.ok) show(answer.body as ShownTrips);
  }

  function show({ trips, earned, last }: ShownTrips): void {
    setText(element('today-earned'), money(earned));
    setText(element('today-trips'), String(trips));
    setText(element('last-price'), last ? money(last.agreedPrice) : 'None yet');
    setText(element('last-distance'), last ? `${kilometers(last.distanceKm)}, ` : '');
    const time = element<HTMLTimeElement>('last-at');
    const at = last ? new Date(last.completedAt) : null;
    setText(time, at ? timeWords(at) : '');
    time.dateTime = at?.toISOString() ?? '';
    time.title = at ? `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC` : '';
  }

  function tick(): void {
    setText(element('connection'), isConnected === undefined ? '–' : isConnected ? 'Good' : 'Lost');
    setText(element('position-sent'), positionWords(sentAgoMs()));
  }

  setInterval(tick, 1_000);

  return {
    load: (): void => void load(),
    setConnected(isGood: boolean): void {
      isConnected = isGood;
      tick();
    },
  };
}

const lastMidnight = (): number => new Date(serverNow()).setHours(0, 0, 0, 0);

/** The time of a trip; with the date, unless it was today. */
function timeWords(at: Date): string {
  const time = at.toLocaleTimeString('en-US', { hour: 'numeric', minute: '2-digit' });
  if (at.toDateString() === new Date(serverNow()).toDateString()) return time;
  return `${at.toLocaleDateString('en-US', { month: 'short', day: 'numeric' })}, ${time}`;
}
