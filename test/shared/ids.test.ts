import { expect } from 'chai';
import {
  eventId,
  newAccountId,
  newKeyId,
  newOfferId,
  newRideId,
  newTrackToken,
  randomBase62,
  toBase62,
} from '../../shared/base/ids.ts';

describe('ids', () => {
  it('an id has the prefix and the length of its kind', () => {
    expect(newRideId(Date.now())).to.match(/^ride_[0-9A-Za-z]{24}$/);
    expect(newOfferId()).to.match(/^offer_[0-9A-Za-z]{16}$/);
    expect(newKeyId()).to.match(/^key_[0-9A-Za-z]{14}$/);
    expect(newAccountId()).to.match(/^acct_[0-9A-Za-z]{14}$/);
    expect(newTrackToken()).to.match(/^[0-9A-Za-z]{22}$/);
  });

  it('ids do not repeat', () => {
    const made = Array.from({ length: 5_000 }, () => [newRideId(0), newOfferId(), newTrackToken()]).flat();
    expect(new Set(made).size).to.equal(15_000);
  });

  it('ride ids sort by creation time', () => {
    const times = [0, 61, 62, 1_700_000_000_000, 1_700_000_000_001, 4_000_000_000_000];
    const ids = times.map((time) => newRideId(time));
    expect([...ids].sort()).to.deep.equal(ids);
  });

  it('ids use every character of base62 about equally often', () => {
    const counts = new Map<string, number>();
    for (const character of randomBase62(62_000)) counts.set(character, (counts.get(character) ?? 0) + 1);
    expect(counts.size).to.equal(62);
    // Each character is expected 1,000 times, with a standard deviation of 31.
    for (const count of counts.values()) expect(count).to.be.within(750, 1_250);
  });

  it('toBase62 pads numbers with zeros', () => {
    expect([0, 1, 61, 62, 3_843].map((value) => toBase62(value, 2))).to.deep.equal(['00', '01', '0z', '10', 'zz']);
    expect(toBase62(0xffffffff, 6)).to.equal('4gfFC3');
  });

  it('the id of an event is derived from its ride and number', () => {
    expect(eventId('ride_abc', 3)).to.equal('evt_abc_3');
    expect(eventId('ride_abc', 3)).to.equal(eventId('ride_abc', 3));
  });
});
