import { expect } from 'chai';
import { isWithinLimits, liveOffersCheapestFirst, matchingOffer, visibleOffers } from '../../../shared/rides/offers.ts';
import { biddingSince, shownOpening, waitsToOpen } from '../../../shared/rides/opening.ts';
import { type Driver, type Offer, type RideState, rideStatuses } from '../../../shared/rides/ride-types.ts';
import { searchTermsOf, searchWords, squeezed } from '../../../shared/rides/search-terms.ts';
import { getsSuccessor, requestOf, scenarioOfSuccessor } from '../../../shared/rides/successor.ts';
import { cancelReasonOf, endedStatuses, hasEnded, isMoving } from '../../../shared/rides/transitions.ts';

const offer = (offerId: string, price: number, etaMinutes = 5, atMs = 0, changes: Partial<Offer> = {}): Offer => ({
  ...{
    offerId,
    price,
    etaMinutes,
    at: new Date(atMs),
    driver: { driverId: `driver_${offerId}` } as Driver,
    ...changes,
  },
});
const withdrawnAt = new Date(1);
const ids = (offers: readonly Offer[]) => offers.map(({ offerId }) => offerId).join(' ');

describe('the offers of a ride', () => {
  const offers = [
    offer('e', 9, 5, 3),
    offer('a', 7, 9),
    offer('d', 9, 5, 2),
    offer('c', 9, 4, 9),
    offer('x', 1, 1, 0, { withdrawnAt }),
    offer('b', 8, 9),
  ];

  it('live offers are ordered by price, then by ETA, then by time', () => {
    expect(ids(liveOffersCheapestFirst(offers))).to.equal('a b c d e');
    expect(ids(liveOffersCheapestFirst(offers.toReversed()))).to.equal('a b c d e');
    expect(ids(offers)).to.equal('e a d c x b');
  });

  it('a partner sees the live offers while bidding, then the accepted one, and none of a cancelled ride', () => {
    const seen = (status: RideState['status']) => ids(visibleOffers({ status, offers, acceptedOfferId: 'd' }));
    expect(rideStatuses.map(seen)).to.deep.equal(['a b c d e', 'd', 'd', 'd', 'd', '']);
    expect(visibleOffers({ status: 'cancelled', offers, acceptedOfferId: 'd' })).to.deep.equal([]);
  });

  for (const [price, eta, maxEtaMinutes, isWithin] of [
    [10, 5, 5, true],
    [10.01, 5, 5, false],
    [10, 6, 5, false],
    [10, 600, undefined, true],
  ] as const) {
    it(`an offer of ${price} USD in ${eta} minutes is ${isWithin ? '' : 'not '}within 10 USD and ${maxEtaMinutes} minutes`, () => {
      expect(isWithinLimits({ maxPrice: 10, maxEtaMinutes }, { price, etaMinutes: eta })).to.equal(isWithin);
    });
  }

  it('auto-accept chooses the first live offer within the limits, and with a wait the cheapest', () => {
    const chosen = (autoAccept: RideState['autoAccept'], except: string[] = []) =>
      matchingOffer({ autoAccept, offers }, new Set(except.map((id) => `driver_${id}`)))?.offerId;
    expect(chosen(undefined)).to.equal(undefined);
    expect(chosen({ maxPrice: 9 })).to.equal('e');
    expect(chosen({ maxPrice: 8 })).to.equal('a');
    expect(chosen({ maxPrice: 1 })).to.equal(undefined);
    expect(chosen({ maxPrice: 9, waitSeconds: 0 })).to.equal('a');
    expect(chosen({ maxPrice: 9, waitSeconds: 0 }, ['a', 'b'])).to.equal('c');
    expect(chosen({ maxPrice: 9 }, ['e'])).to.equal('a');
    expect(matchingOffer({ autoAccept: { maxPrice: 9 }, offers })?.offerId).to.equal('e');
  });
});

describe('the opening of a ride', () => {
  const [createdAt, planned, opened] = [new Date(1), new Date(2), new Date(3)];
  for (const [title, biddingOpensAt, openedAt, expected] of [
    ['a ride for now is open', undefined, undefined, [false, createdAt, undefined]],
    ['a ride for later waits', planned, undefined, [true, createdAt, planned]],
    ['a ride for later that has opened shows the actual time', planned, opened, [false, opened, opened]],
  ] as const) {
    it(title, () => {
      const times = { createdAt, biddingOpensAt, openedAt };
      expect([waitsToOpen(times), biddingSince(times), shownOpening(times)]).to.deep.equal(expected);
    });
  }
});

describe('the statuses of a ride', () => {
  it('a ride ends completed or cancelled, and moves from the accept to the end', () => {
    expect(endedStatuses).to.deep.equal(['completed', 'cancelled']);
    expect(rideStatuses.filter(hasEnded)).to.deep.equal(['completed', 'cancelled']);
    expect(rideStatuses.filter(isMoving)).to.deep.equal(['driver_arriving', 'arrived', 'in_progress']);
  });

  it('the reason of a timeout follows from the status; otherwise the reason is the party', () => {
    expect(rideStatuses.map((status) => cancelReasonOf('timeout', status))).to.deep.equal([
      ...['no_offers', 'no_progress', 'no_show', 'no_progress', 'no_progress', 'no_progress'],
    ]);
    for (const by of ['partner', 'driver'] as const) expect(cancelReasonOf(by, 'arrived')).to.equal(by);
  });
});

describe('the successor of a ride', () => {
  const ride = { onDriverCancel: 'rebid', driver: {} as Driver } as const;
  for (const [title, fields, by, gets] of [
    ['a ride whose driver cancels gets a successor', ride, 'driver', true],
    ['a ride with two predecessors gets one', { ...ride, rebids: 2 }, 'driver', true],
    ['a ride with three predecessors gets none', { ...ride, rebids: 3 }, 'driver', false],
    ['a ride that the partner cancels gets none', ride, 'partner', false],
    ['a ride that times out gets none', ride, 'timeout', false],
    ['a ride without a driver gets none', { ...ride, driver: undefined }, 'driver', false],
    ['a ride without onDriverCancel gets none', { driver: ride.driver }, 'driver', false],
  ] as const) {
    it(title, () => {
      expect(getsSuccessor(fields as RideState, by)).to.equal(gets);
    });
  }

  it('a successor has the whole request, and nothing else of the ride', () => {
    const request = Object.fromEntries(
      'pickup destination fare carType rideType passengerCount distanceKm notes passenger webhookUrl reference metadata autoAccept needs pickupAt onDriverCancel'
        .split(' ')
        .map((field) => [field, field]),
    );
    const rest = { _id: 'ride_1', status: 'cancelled', offers: [], driver: {}, trackToken: 'x' };
    expect(requestOf({ ...rest, ...request } as unknown as RideState)).to.deep.equal(request);
  });

  it('after driver_cancels the successor runs the default scenario; other scenarios stay', () => {
    expect((['driver_cancels', 'slow', 'default', undefined] as const).map(scenarioOfSuccessor)).to.deep.equal([
      ...['default', 'slow', 'default', undefined],
    ]);
  });
});

describe('the search terms of a ride', () => {
  const place = (address?: string) => ({ lat: 1, lng: 2, address });
  const terms = (fields: object) => searchTermsOf({ pickup: place(), destination: place(), ...fields });

  it('a ride is found by its reference, passenger and addresses, each as a whole and in parts, without accents', () => {
    const passenger = { name: 'Zoë O’Neill', phone: '+1 (202) 555-0111' };
    expect(
      terms({ reference: 'RES-20332', passenger, pickup: place('Grand  Hôtel'), destination: place('Zoe \n St. 9') }),
    ).to.deep.equal([
      ...['res20332', 'res', '20332', 'zoe', 'oneill', 'o', 'neill', '12025550111', '2025550111', 'grand', 'hotel'],
      ...['st', '9'],
    ]);
    expect(terms({})).to.deep.equal([]);
  });

  it('a term has at most 40 characters, and a ride at most 32 terms', () => {
    const long = 'x'.repeat(41);
    expect(terms({ reference: `${long}-b` })).to.deep.equal([long.slice(1), 'b']);
    const many = Array.from({ length: 40 }, (_, index) => `w${index}`);
    expect(terms({ reference: many.join(' ') })).to.deep.equal(many.slice(0, 32));
  });

  for (const [typed, words] of [
    ['  Grand   hôtel ', ['grand', 'hotel']],
    ['RES-20332 res-20332', ['res20332']],
    ['+1 (202) 555-0111', ['12025550111']],
    ['  (202) 555.0111 ', ['2025550111']],
    ['202 555 0111', ['2025550111']],
    ['202 555', ['202', '555']],
    ['0044 20 7946 0958', ['442079460958']],
    ['020 7946 0958', ['2079460958']],
    ['東京駅', ['東京', '京駅']],
    ['Łódź ØST Straße ıŞIK', ['lodz', 'ost', 'strasse', 'isik']],
    ['(desk) 12', ['desk', '12']],
    ['x +1 202', ['x', '1', '202']],
    ['+1 202 x', ['1', '202', 'x']],
    [' - ', []],
    ['', []],
    ['a b c d e f g h i j', ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']],
  ] as const) {
    it(`the words of the search ${JSON.stringify(typed)} are: ${words.join(', ')}`, () => {
      expect(searchWords(typed)).to.deep.equal(words);
    });
  }

  it('a reference that is searched as a phone number is found as one, and a shorter one is found as it is', () => {
    for (const reference of [' 0001234 ', '415 2233', 'BK 0004711']) {
      expect(terms({ reference }), reference).to.include.members(searchWords(reference.replace('BK', '')));
    }
    expect(searchWords('0001234')).to.deep.equal(['1234']);
    expect(terms({ reference: '0012' })).to.deep.equal(['0012']);
  });

  it('squeezed leaves letters and digits of any script', () => {
    expect([squeezed('Ünï-9 東京!'), squeezed()]).to.deep.equal(['uni9東京', '']);
  });
});
