import type { ShownTrips } from '../../../shared/rides/driver/driver-schemas.ts';
import { call, serverNow } from './call-gateway.ts';
import { element, setText, text, texts } from './elements.ts';

/** The trips and earnings since midnight in the phone's time zone, and the state of the connection. */
export function createToday(sentAgoMs: () => number | null) {
  let isConnected: boolean | undefined;
  let since: number | undefined;

  async function load(): Promise<void> {
    since = lastMidnight();
    const answer = await call('GET', `/trips?since=${since}`);
    if (answer?.ok) show(answer.body as ShownTrips);
  }

  function show({ trips, earned, last }: ShownTrips): void {
    setText(element('today-earned'), texts.money(earned));
    setText(element('today-trips'), trips.toLocaleString(texts.locale));
    setText(element('last-price'), last ? texts.money(last.agreedPrice) : text('none'));
    setText(
      element('last-distance'),
      last ? text('comma', { first: texts.kilometers(last.distanceKm), second: '' }) : '',
    );
    const time = element<HTMLTimeElement>('last-at');
    const at = last ? new Date(last.completedAt) : null;
    setText(time, at ? timeWords(at) : '');
    time.dateTime = at?.toISOString() ?? '';
    time.title = at ? `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC` : '';
  }

  function tick(): void {
    const isNewDay = since !== undefined && since !== lastMidnight();
    if (isNewDay) void load();
    setText(
      element('connection'),
      isConnected === undefined ? '–' : text(isConnected ? 'connection.good' : 'connection.lost'),
    );
    setText(element('position-sent'), texts.positionWords(sentAgoMs()));
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
  const time = at.toLocaleTimeString(texts.locale, { hour: 'numeric', minute: '2-digit' });
  if (at.toDateString() === new Date(serverNow()).toDateString()) return time;
  return text('comma', {
    first: at.toLocaleDateString(texts.locale, { month: 'short', day: 'numeric' }),
    second: time,
  });
}
