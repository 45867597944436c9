import { expect } from 'chai';
import type { TrackState } from '../../../api/track/track-state.ts';
import { seenWords, serverZone, wordsFor } from '../../../api/track/words.ts';

const now = 1_700_000_000_000;
const place = { lat: 1, lng: 2 };
const state = (changes: Partial<TrackState>): TrackState => ({
  now,
  status: 'driver_arriving',
  testMode: false,
  pickup: place,
  destination: place,
  steps: [],
  ...changes,
});
const seenAgo = (seconds: number) => ({ position: { ...place, heading: 0, at: now - seconds * 1_000 } });
const headline = (changes: Partial<TrackState>) => wordsFor(state(changes), now).headline;

describe('texts of a live map', () => {
  it('the headline changes with the minutes of the ETA, not with its seconds', () => {
    const words = [239_000, 200_000, 181_000].map((leftMs) => headline({ arrivesAt: now + leftMs }));
    expect(new Set(words)).to.deep.equal(new Set(['Arrives in 4 min']));
    expect(headline({ arrivesAt: now + 180_000 })).to.equal('Arrives in 3 min');
  });

  for (const [leftMs, words] of [
    [29_000, 'Arriving now'],
    [-60_000, 'Arriving now'],
    [30_000, 'Arrives in 1 min'],
    [59 * 60_000, 'Arrives in 59 min'],
    [60 * 60_000, 'Arrives in 1 h'],
    [135 * 60_000, 'Arrives in 2 h 15 min'],
  ] as const) {
    it(`${leftMs / 1_000} s before the arrival, the headline is "${words}"`, () => {
      expect(headline({ arrivesAt: now + leftMs })).to.equal(words);
    });
  }

  it('the map shows no ETA if the last report is older than 15 s, and its age instead', () => {
    const old = state({ arrivesAt: now + 240_000, ...seenAgo(40) });
    expect(wordsFor(old, now).headline).to.equal('Driver on the way');
    expect(seenWords(old, now)).to.equal('Seen 40 s ago');
    const fresh = state({ arrivesAt: now + 240_000, ...seenAgo(15) });
    expect(wordsFor(fresh, now).headline).to.equal('Arrives in 4 min');
    expect(seenWords(fresh, now)).to.equal(null);
  });

  it('the map says that no position is reported if the last report is older than 2 minutes', () => {
    expect(wordsFor(state(seenAgo(120)), now).status).to.equal('On the way to the pickup.');
    expect(wordsFor(state(seenAgo(121)), now).status).to.match(/has not been reported/);
  });

  it('the headline of a ride that waits to open has the time of its pickup, with the date if it is another day', () => {
    const minute = 60_000;
    // Node versions differ in the kind of space before PM.
    const waiting = (pickupAt: number) => {
      const words = wordsFor(state({ status: 'bidding', pickupAt, opensAt: pickupAt - 30 * minute }), now, serverZone);
      return [words.headline, words.status].map((text) => text.replaceAll('\u202f', ' '));
    };
    expect(waiting(now + 40 * minute)).to.deep.equal([
      'Scheduled for 10:53 PM UTC',
      'We ask nearby drivers from 10:23 PM UTC.',
    ]);
    expect(waiting(now + 24 * 60 * minute)[0]).to.equal('Scheduled for Nov 15, 10:13 PM UTC');
  });

  it('the map says that another driver is looked for if another ride replaces a cancelled one', () => {
    expect(headline({ status: 'cancelled', endedBy: 'replaced' })).to.equal('Finding another driver');
  });

  it('the status of a cancelled ride says if no driver was found', () => {
    expect(wordsFor(state({ status: 'cancelled', endedBy: 'no_driver' }), now).status).to.match(/No driver/);
    expect(wordsFor(state({ status: 'cancelled', endedBy: 'cancelled' }), now).status).not.to.match(/driver/);
  });
});
