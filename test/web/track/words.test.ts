import { expect } from 'chai';
import { haversineKm } from '../../../shared/base/great-circle.ts';
import { driveMs } from '../../../shared/rides/arrival.ts';
import { pointAt } from '../../../shared/rides/position.ts';
import { mapLanguage } from '../../../web/track/map-languages.ts';
import type { TrackState } from '../../../web/track/track-state.ts';
import { destinationWords, seenWords, shownDriver, wordsFor } from '../../../web/track/track-words.ts';

const english = mapLanguage('en');

const now = 1_700_000_000_000;
const minute = 60_000;
const place = { lat: 1, lng: 2 };
const state = (changes: Partial<TrackState>): TrackState => ({
  now,
  status: 'driver_arriving',
  testMode: false,
  pickup: place,
  destination: place,
  distanceKm: 5.31,
  steps: [],
  ...changes,
});
/** A real car, this many km from the pickup, reported this many seconds ago. */
const seen = (secondsAgo: number, km = 2) => ({
  position: { ...pointAt(place, km, 90), heading: 0, at: now - secondsAgo * 1_000 },
});
/** The texts of a state with the ETA that the service computes without a road. */
function words(changes: Partial<TrackState>, language = english) {
  const { position, leg, arrivesAt, status, pickup, destination } = state(changes);
  const seenCar = leg ? undefined : position;
  const expected = seenCar
    ? seenCar.at + driveMs(haversineKm(seenCar, status === 'in_progress' ? destination : pickup))
    : arrivesAt;
  const eta = expected === undefined ? {} : { eta: { at: Math.max(now, expected), source: 'estimate' as const } };
  return wordsFor(state({ ...eta, ...changes }), now, language);
}
const headline = (changes: Partial<TrackState>) => words(changes).headline;

describe('texts of a live map', () => {
  it('the headline changes with the minutes of the ETA, not with its seconds', () => {
    const found = [239_000, 200_000, 181_000].map((leftMs) => headline({ arrivesAt: now + leftMs }));
    expect(new Set(found)).to.deep.equal(new Set(['Arrives in 4 min']));
    expect(headline({ arrivesAt: now + 180_000 })).to.equal('Arrives in 3 min');
  });

  for (const [leftMs, text] of [
    [29_000, 'Arriving now'],
    [-59_000, 'Arriving now'],
    [-60_000, 'Running late'],
    [30_000, 'Arrives in 1 min'],
    [59 * minute, 'Arrives in 59 min'],
    [60 * minute, 'Arrives in 1 h'],
    [135 * minute, 'Arrives in 2 h 15 min'],
  ] as const) {
    it(`${leftMs / 1_000} s before the arrival, the headline is "${text}"`, () => {
      expect(headline({ arrivesAt: now + leftMs })).to.equal(text);
    });
  }

  it('the ETA is also shown as a clock time', () => {
    expect(words({ arrivesAt: now + 4 * minute }).when).to.deep.equal({
      before: 'About ',
      at: now + 4 * minute,
      after: '',
    });
    expect(words({ arrivesAt: now }).when).to.equal(undefined);
  });

  it('the ETA is the present one of the service, not the promised one', () => {
    // 2 km are about 3.4 km through streets: 6.8 minutes at 30 km/h.
    const car = { arrivesAt: now + minute, ...seen(0) };
    expect(words(car).headline).to.equal('Arrives in 7 min');
    expect(words({ ...car, ...seen(0, 0.05) }).headline).to.equal('Arriving now');
    expect(words({ ...car, status: 'in_progress', destination: pointAt(place, 4, 90) }).headline).to.equal(
      'Arrives in 7 min',
    );
    const eta = { at: now + 9 * minute, source: 'route' } as const;
    expect(words({ ...car, eta }).headline).to.equal('Arrives in 9 min');
  });

  it('the ETA of a simulated car is the end of its drive', () => {
    const leg = { from: place, to: place, heading: 0, startAt: now, endAt: now + 2 * minute };
    expect(headline({ testMode: true, leg, arrivesAt: leg.endAt, ...seen(0, 9) })).to.equal('Arrives in 2 min');
  });

  it('a ride whose expected arrival has passed by a minute runs late, with the new ETA if the car is seen', () => {
    const late = { arrivesAt: now - minute, ...seen(0) };
    expect(words(late)).to.deep.include({ headline: 'Running late', status: 'On the way to the pickup.' });
    expect(words(late).when).to.include({ before: 'Now expected about ', after: ', in 7 min' });
    expect(words({ ...late, status: 'in_progress', destination: pointAt(place, 4, 90) }).headline).to.equal(
      'Running late',
    );
    expect(words({ ...late, ...seen(40) }))
      .to.deep.include({ headline: 'Running late' })
      .and.not.have.property('when');
    expect(words({ ...late, ...seen(0, 0.05) }).headline).to.equal('Arriving now');
  });

  it('the map shows no ETA if the last report is older than 15 s, and its age instead', () => {
    const old = state({ arrivesAt: now + 4 * minute, ...seen(40) });
    expect(words(old).headline).to.equal('Driver on the way');
    expect(seenWords(old, now, english)).to.equal('Seen 40 s ago');
    const fresh = state({ arrivesAt: now + 4 * minute, ...seen(15) });
    expect(words(fresh).headline).to.equal('Arrives in 7 min');
    expect(seenWords(fresh, now, english)).to.equal(null);
  });

  it('the map says that no position is reported if the last report is older than 2 minutes', () => {
    expect(words(seen(120)).status).to.equal('On the way to the pickup.');
    expect(words(seen(121)).status).to.match(/has not been reported/);
  });

  it('the headline of a ride that waits to open has the time of its pickup, with the date if it is another day', () => {
    // Node versions differ in the kind of space before PM.
    const waiting = (pickupAt: number) => {
      const words = wordsFor(
        state({ status: 'bidding', pickupAt, opensAt: pickupAt - 30 * minute }),
        now,
        english,
        'UTC',
      );
      return [words.headline, words.status].map((text) => text.replaceAll('\u202f', ' '));
    };
    expect(waiting(now + 40 * minute)).to.deep.equal([
      'Scheduled for 10:53 PM UTC',
      'We will ask nearby drivers from 10:23 PM UTC.',
    ]);
    expect(waiting(now + 24 * 60 * minute)[0]).to.equal('Scheduled for Nov 15, 10:13 PM UTC');
  });

  it('the date and the time of a pickup on another day are joined as in each language', () => {
    const later = state({ status: 'bidding', pickupAt: now + 24 * 60 * minute, opensAt: now });
    const headlineIn = (locale: string) => wordsFor(later, now, mapLanguage(locale), 'UTC').headline;
    expect(headlineIn('ar')).to.include('نوفمبر، ');
    expect(headlineIn('zh-Hans')).to.equal('预约时间：11月15日 22:13 UTC');
    expect(headlineIn('de')).to.equal('Geplant für 15. Nov., 22:13 UTC');
  });

  it('a sentence has one full stop after a time that ends with one', () => {
    const waiting = state({ status: 'bidding', pickupAt: now + 40 * minute, opensAt: now + 10 * minute });
    for (const locale of ['en-CA', 'es-MX']) {
      expect(wordsFor(waiting, now, mapLanguage(locale)).status).to.match(/\s[ap]\.\s?m\.$/);
    }
  });

  it('the map says that another driver is looked for if another ride replaces a cancelled one', () => {
    expect(words({ status: 'cancelled', endedBy: 'replaced' }).headline).to.equal('Finding another driver');
  });

  it('a completed trip has its distance, duration and time of arrival, and no age of its last position', () => {
    const trip = (ms: number) => [
      { status: 'in_progress', at: now - ms } as const,
      { status: 'completed', at: now } as const,
    ];
    const completed = { status: 'completed', ...seen(3_600) } as const;
    expect(words({ ...completed, steps: trip(12.4 * minute) })).to.deep.equal({
      headline: 'Trip completed',
      when: { before: 'Arrived at ', at: now, after: '' },
      status: '5.3 km in 12 min.',
    });
    expect(words({ ...completed, steps: trip(3_000) }).status).to.equal('5.3 km in less than a minute.');
    expect(seenWords(state(completed), now, english)).to.equal(null);
  });

  it('the status of a cancelled ride says if no driver was found, and if the trip had begun', () => {
    expect(words({ status: 'cancelled', endedBy: 'no_driver' }).status).to.match(/No driver/);
    expect(words({ status: 'cancelled', endedBy: 'cancelled' }).status).to.equal('This ride will not take place.');
    const steps = [{ status: 'in_progress', at: now - minute } as const];
    expect(words({ status: 'cancelled', endedBy: 'cancelled', steps }).status).to.match(/ended before/);
  });

  it('a cancelled ride shows its driver only if the trip had begun', () => {
    const driver = { firstName: 'Dana', vehicle: 'Prius', plate: 'T-1', rating: 4.8 };
    const steps = [{ status: 'in_progress', at: now - minute } as const];
    expect(shownDriver(state({ status: 'cancelled', driver }))).to.equal(undefined);
    expect(shownDriver(state({ status: 'cancelled', driver, steps }))).to.deep.equal(driver);
    expect(shownDriver(state({ driver }))).to.deep.equal(driver);
  });

  it('a destination without an address is described by its distance and direction from the pickup', () => {
    const to = (km: number, heading: number) =>
      destinationWords({ pickup: place, destination: pointAt(place, km, heading) }, english);
    expect(to(5.3, 225)).to.equal('5.3 km south-west of the pickup');
    expect(to(5.3, 350)).to.equal('5.3 km north of the pickup');
    expect(to(0.01, 0)).to.equal('At the pickup');
    expect(destinationWords({ pickup: place, destination: { ...place, address: '7 Elm St' } }, english)).to.equal(
      '7 Elm St',
    );
  });
});
