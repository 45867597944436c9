import { expect } from 'chai';
import { driveLanguage } from '../../../web/drive/drive-languages.ts';
import { driveWords } from '../../../web/drive/drive-words.ts';

const { notesOf, pickupWords, specialWords } = driveWords(driveLanguage('en'));

describe("the needs of a ride on the driver's page", () => {
  it('a request shows its pickup time and its needs, and nothing without either', () => {
    expect(specialWords({})).to.equal('');
    expect(specialWords({ needs: ['child_seat', 'pet'] })).to.equal('Needs: child seat, pet');
    expect(specialWords({ needs: ['pet'], pickupAt: Date.UTC(2026, 10, 24, 12) })).to.match(/^Pickup .+\nNeeds: pet$/);
  });

  it('the pickup time has a date only if it is on another day, also in the zone of the reader', () => {
    const utc = { timeZone: 'UTC', timeZoneName: 'short' } as const;
    const pickupAt = Date.UTC(2026, 10, 24, 0, 30);
    // Some versions of ICU write a narrow space before AM.
    const words = (now: number) => pickupWords({ pickupAt }, utc, now).replaceAll(/\s/g, ' ');
    expect(words(Date.UTC(2026, 10, 24, 0, 1))).to.equal('Pickup at 12:30 AM UTC');
    expect(words(Date.UTC(2026, 10, 23, 23, 59))).to.equal('Pickup Nov 24, 12:30 AM UTC');
    expect(pickupWords({}, utc)).to.equal('');
  });

  it("the driver's ride shows its needs before the notes, and nothing without either", () => {
    expect(notesOf({})).to.equal('');
    expect(notesOf({ notes: 'needs a hand' })).to.equal('needs a hand');
    expect(notesOf({ needs: ['wheelchair'] })).to.equal('Needs: wheelchair');
    expect(notesOf({ needs: ['pet'], notes: 'Two cats' })).to.equal('Needs: pet. Two cats');
  });
});
