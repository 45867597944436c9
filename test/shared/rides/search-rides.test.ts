import { expect } from 'chai';
import { newAccountId, newKeyId } from '../../../shared/base/ids.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { Ride } from '../../../shared/rides/ride-types.ts';
import { searchRides } from '../../../shared/rides/search-rides.ts';
import { searchWords } from '../../../shared/rides/search-terms.ts';
import { plansOf } from '../../support/plans.ts';
import { newDriver, newRide, type RideWish, rideIn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { storedRide } from '../../support/stored-rides.ts';

const places = {
  pickup: { lat: 40.7128, lng: -74.006, address: 'Grand Hôtel, 12 Main St.' },
  destination: { lat: 40.758, lng: -73.9855, address: 'St. Mary’s Hospital' },
};

describe('the search for rides', () => {
  const ctx = useTestContext();
  let accountId: string;
  let keyId: string;
  beforeEach(() => {
    [accountId, keyId] = [newAccountId(), newKeyId()];
  });

  const ride = (wish: Partial<RideWish> = {}) => newRide(ctx, { accountId, keyId, ...places, ...wish });
  const found = async (text: string, filter = {}, owner = { accountId }) =>
    (await searchRides(searchWords(text), filter, 50, owner)).rides.map(({ _id }) => _id);

  it('finds a ride by whole words of its reference, passenger and addresses, in any spelling', async () => {
    const passenger = { name: 'Zoë O’Neill', phone: '+1 (202) 555-0111' };
    const rideId = await ride({ reference: 'RES-20332', passenger });
    for (const text of [
      ...['RES-20332', ' res-20332 ', 'res20332', 'res 20332', '20332', 'ZOE', 'Zoë O’Neill', 'oneill, zoe'],
      ...['+12025550111', '+1 202 555 0111', '(1) 202 555-0111', 'grand hotel', 'Main St', 'st marys hospital 20332'],
    ]) {
      expect(await found(text), text).to.deep.equal([rideId]);
    }
    for (const text of ['RES-20333', '2033', 'RES-20332 motel', 'hotel zo', '', ' - ', '$ne']) {
      expect(await found(text), text).to.deep.equal([]);
    }
  });

  it('finds a ride by a reference that looks like a phone number: with zeros before it, in groups, in another text', async () => {
    for (const reference of ['0012345', '415 2233', '(12) 34567', '0049 30 123456', '+1 202 555 0143', 'BK 0004711']) {
      const rideId = await ride({ reference });
      for (const text of [reference, reference.split('BK ').at(-1) ?? '']) {
        expect(await found(text), text).to.deep.equal([rideId]);
      }
    }
  });

  it('finds a ride in every script, and by its phone number in every form', async () => {
    const passenger = { name: 'Łukasz Ødegård', phone: '+44 (0)20 7946 0958 / +44 20 7946 0959' };
    const pickup = { ...places.pickup, address: '東京駅八重洲口, Straße 9, ışık' };
    const rideId = await ride({ passenger, pickup });
    for (const text of [
      ...[
        'lukasz',
        'ŁUKASZ',
        'odegard',
        'strasse',
        'STRASSE 9',
        'isik',
        '東京駅',
        '八重洲',
        '東京 八重洲口',
        '重洲 lukasz',
      ],
      ...['+44 20 7946 0958', '0044 20 7946 0958', '020 7946 0958', '2079460958', '442079460958', '+٤٤ ٢٠ ٧٩٤٦ ٠٩٥٨'],
    ]) {
      expect(await found(text), text).to.deep.equal([rideId]);
    }
    for (const text of ['大阪', '東京タワー', '020 7946 0950']) expect(await found(text), text).to.deep.equal([]);
  });

  it('finds only rides of the account, within the filters, newest first', async () => {
    const [first, second] = [await ride({ reference: 'A-1' }), await ride({ reference: 'A-1' })];
    const { rideId: ended } = await rideIn(ctx, 'cancelled', { accountId, keyId: newKeyId(), reference: 'A-1' });
    // Ids begin with the time of creation.
    const newestFirst = [first, second, ended].sort().reverse();
    const bidding = newestFirst.filter((id) => id !== ended);
    expect(await found('A-1')).to.deep.equal(newestFirst);
    expect(await found('A-1', { keyId })).to.deep.equal(bidding);
    expect(await found('A-1', { status: 'cancelled' })).to.deep.equal([ended]);
    expect(await found('A-1', { status: ['bidding', 'arrived'] })).to.deep.equal(bidding);
    expect(await found('A-1', { mode: 'test' })).to.deep.equal([]);
    expect(await found('A-1', { after: newestFirst[0] })).to.deep.equal(newestFirst.slice(1));
    expect(await found('A-1', { from: new Date(0) })).to.deep.equal(newestFirst);
    expect(await found('A-1', { to: new Date(0) })).to.deep.equal([]);
    expect(await found('A-1', {}, { accountId: newAccountId() })).to.deep.equal([]);
  });

  /** 2,000 rides: each has the words `grand` and `hotel`, a number of its own, and `odd` or `even`. */
  async function manyRides(): Promise<string[]> {
    const template = await storedRide(await ride());
    const copies = Array.from({ length: 2_000 }, (_, index): Ride => {
      return {
        ...template,
        _id: `${template._id.slice(0, -4)}${String(index).padStart(4, '0')}`,
        trackToken: `${accountId}${index}`,
        driver: newDriver(),
        searchTerms: ['grand', 'hotel', `n${index}`, index % 2 ? 'odd' : 'even'],
      };
    });
    await rides.deleteOne({ _id: template._id });
    await rides.insertMany(copies);
    return copies.map(({ _id }) => _id);
  }

  it('a search reads a bounded number of index entries and rides, for any number of rides', async () => {
    const ids = await manyRides();
    for (const [text, expected] of [
      ['hotel', ids.slice(-20).reverse()],
      ['grand hotel n7', [ids[7]]],
      ['n7 n8', []],
      ['odd even', []],
    ] as const) {
      let rideIds: string[] = [];
      const plans = await plansOf(async () => {
        rideIds = (await searchRides(searchWords(text), {}, 20, { accountId })).rides.map(({ _id }) => _id);
      });
      expect(rideIds, text).to.deep.equal(expected);
      const perWord = plans.slice(0, text.split(' ').length);
      for (const { executionStats, stages } of perWord) {
        expect(executionStats.totalKeysExamined, text).to.be.at.most(501);
        expect(executionStats.totalDocsExamined, text).to.equal(0);
        expect(stages).not.to.match(/"SORT"|"COLLSCAN"|"FETCH"/);
      }
      for (const { executionStats } of plans.slice(perWord.length)) {
        expect(executionStats.totalDocsExamined, text).to.be.at.most(500);
      }
    }
  });

  it('the pages of a search show each ride once, also if its words are frequent', async () => {
    const ids = await manyRides();
    for (const [text, expected] of [
      ['grand hotel', ids.toReversed()],
      ['odd hotel', ids.filter((_, index) => index % 2).reverse()],
      ['odd even', []],
    ] as const) {
      const seen: string[] = [];
      let pages = 0;
      for (let after: string | undefined; pages === 0 || after; pages++) {
        const { rides: shown, next } = await searchRides(searchWords(text), { after }, 300, { accountId });
        seen.push(...shown.map(({ _id }) => _id));
        after = next;
      }
      expect(seen, text).to.deep.equal(expected);
      expect(pages, text).to.be.at.most(9);
    }
  });

  it('a ride without texts has no terms', async () => {
    expect(await storedRide(await newRide(ctx, { accountId }))).not.to.have.property('searchTerms');
  });
});
