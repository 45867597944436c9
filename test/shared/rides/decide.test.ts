import { expect } from 'chai';
import { AppError } from '../../../shared/base/errors.ts';
import { wideCellsAt } from '../../../shared/drivers/cells.ts';
import { type Command, decide } from '../../../shared/rides/decide.ts';
import { firstFields } from '../../../shared/rides/first-timers.ts';
import type { Driver, Offer, RideState, Timer } from '../../../shared/rides/ride-types.ts';
import { simulatedStart } from '../../../shared/rides/simulated-leg.ts';
import { simulatedOffer } from '../../../shared/rides/simulation.ts';

const minute = 60_000;
const timing = {
  ...{ pickupTimeoutMs: 120 * minute, tripTimeoutMs: 720 * minute, biddingTimeoutMs: 10 * minute },
  ...{ scheduleLeadMs: 30 * minute, simulationSpeed: 2 },
};
const now = new Date('2026-01-01T12:00:00Z');
/** The time of the event, which is later than `now` after the clock was set back. */
const at = new Date(now.getTime() + 7);
const later = (ms: number) => new Date(now.getTime() + ms);
const timer = (name: Timer['name'], ms = 0): Timer => ({ name, dueAt: later(ms) });
const expire = timer('expire', 10 * minute);

const driver = (driverId: string): Driver => ({
  ...{ driverId, name: 'Dana', phone: '+12025550100', rating: 4.8, vehicle: 'Prius', plate: 'T-1' },
});
const offer = (offerId: string, changes: Partial<Offer> = {}): Offer => ({
  ...{ offerId, price: 21, etaMinutes: 5, driver: driver(`driver of ${offerId}`), at: later(-minute), ...changes },
});
const withdrawnAt = later(-1);

type Fields = Partial<RideState>;
const pickup = { lat: 40, lng: -70 };
const pickupCells = wideCellsAt(pickup);
/** A ride that decide must not change. */
const rideWith = (fields: Fields = {}) =>
  frozen({
    ...{ _id: 'ride_1', mode: 'live', status: 'bidding', fare: 20, createdAt: later(-minute), offers: [] },
    ...{ pickup, destination: { lat: 40, lng: -69 } },
    ...{ biddingEndsAt: expire.dueAt, timers: [expire], ...fields },
  }) as unknown as RideState;
function frozen<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part) frozen(part);
  return Object.freeze(value);
}
const decided = (fields: Fields, command: Command, fired?: Timer['name']) =>
  decide(rideWith(fields), command, { at, now }, timing, fired);
const outcome = (fields: Fields, command: Command): string => {
  try {
    return decided(fields, command) ? 'done' : 'nothing';
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
};

const one = offer('one');
const fourOthers = ['two', 'three', 'four', 'five'].map((id) => offer(id));
const test: Fields = { mode: 'test' };
const waiting: Fields = { biddingOpensAt: later(minute), timers: [timer('open', minute)] };
const assigned: Fields = {
  ...{ status: 'driver_arriving', offers: [one], acceptedOfferId: 'one', driver: one.driver },
  timers: [timer('stall', 3), timer('driver', 4)],
};
const rebid: Fields = { ...assigned, onDriverCancel: 'rebid' };
const accept: Command = { action: 'accept', offerId: 'one' };
const bid = (driverId = 'new', changes = {}): Command => ({
  ...{ action: 'offer', driver: driver(driverId), price: 22, etaMinutes: 6, newId: 'two', ...changes },
});
const cancel = (by: 'partner' | 'driver' | 'timeout'): Command => ({ action: 'cancel', by });
const raise = (fare: number): Command => ({ action: 'raiseFare', fare });
const many = (count: number, of = 'many', changes: Partial<Offer> = {}) =>
  Array.from({ length: count }, (_, i) =>
    offer(`o${i}`, { driver: driver(`${of}${of === 'many' ? i : ''}`), ...changes }),
  );

describe('the changes that decide makes', () => {
  const newOffer = { offerId: 'two', price: 22, etaMinutes: 6, driver: driver('new'), at };
  const toAccepted = {
    status: 'driver_arriving',
    statusAt: at,
    acceptedOfferId: 'one',
    agreedPrice: 21,
    driver: one.driver,
  };
  const leg = (from: object, to: object, heading: number, ms: number) => ({
    from,
    to,
    heading,
    startAt: now,
    endAt: later(ms),
  });
  const { pickup, destination } = rideWith();
  const cancelled = (by: string, reason = by) => ({
    ...{ status: 'cancelled', statusAt: at, cancelledBy: by, cancelReason: reason },
  });
  const status = { event: 'ride.status' };
  const inTime = { beforeDeadline: true };
  const [stall, tripStall] = [timer('stall', 120 * minute), timer('stall', 720 * minute)];

  const asked = [{ driverId: 'asked', pickupKm: 1 }];
  const cases: [title: string, fields: Fields, command: Command, change: object][] = [
    [
      'an offer is added at its time',
      {},
      bid(),
      { set: { timers: [expire] }, newOffer, event: 'offer.received', ...inTime },
    ],
    [
      'an accept assigns the driver, at the price of the offer',
      { offers: [offer('other', { price: 5 }), one] },
      accept,
      { set: { ...toAccepted, timers: [stall, timer('driver')] }, ...status, ...inTime },
    ],
    [
      'the time without progress counts from a pickup time that is ahead',
      { offers: [one], pickupAt: later(5 * minute) },
      accept,
      { set: { ...toAccepted, timers: [timer('stall', 125 * minute), timer('driver')] }, ...status, ...inTime },
    ],
    [
      'the time without progress counts from now if the pickup time has passed',
      { offers: [one], pickupAt: later(-5 * minute) },
      accept,
      { set: { ...toAccepted, timers: [stall, timer('driver')] }, ...status, ...inTime },
    ],
    [
      'an arrival starts a new time limit and keeps the driver timer',
      assigned,
      { action: 'arrive' },
      { set: { status: 'arrived', statusAt: at, timers: [stall, timer('driver', 4)] }, ...status },
    ],
    [
      'a start has the time limit of trips, and no leg on a live ride',
      { ...assigned, status: 'arrived' },
      { action: 'start' },
      { set: { status: 'in_progress', statusAt: at, timers: [tripStall, timer('driver', 4)] }, ...status },
    ],
    [
      'a completed ride frees its driver',
      { ...assigned, status: 'in_progress' },
      { action: 'complete' },
      { set: { status: 'completed', statusAt: at, timers: [timer('driver')] }, ...status },
    ],
    [
      'a cancelled ride without a driver has no timer',
      {},
      cancel('partner'),
      { set: { ...cancelled('partner'), timers: [] }, ...status },
    ],
    [
      'a cancelled ride frees its driver',
      rebid,
      cancel('partner'),
      { set: { ...cancelled('partner'), timers: [timer('driver')] }, ...status },
    ],
    [
      'a ride that times out while the driver is on the way was without progress',
      assigned,
      cancel('timeout'),
      { set: { ...cancelled('timeout', 'no_progress'), timers: [timer('driver')] }, ...status },
    ],
    [
      'a cancelled test ride has no driver timer',
      { ...assigned, ...test, timers: [] },
      cancel('driver'),
      { set: { ...cancelled('driver'), timers: [] }, ...status },
    ],
    [
      'a withdrawn offer keeps its place, and the other offers stay',
      { offers: [one, offer('other')] },
      { action: 'withdrawOffer', offerId: 'one' },
      { set: { offers: [{ ...one, withdrawnAt: at }, offer('other')], timers: [expire] } },
    ],
    [
      'a raised fare keeps the first fare',
      {},
      raise(30),
      { set: { fare: 30, firstFare: 20, fareRaisedAt: at, timers: [expire] }, ...inTime },
    ],
    [
      'a fare that is raised again keeps the first fare',
      { firstFare: 15 },
      raise(30),
      { set: { fare: 30, firstFare: 15, fareRaisedAt: at, timers: [expire] }, ...inTime },
    ],
    [
      'the opening starts the whole bidding time and the first dispatch round',
      { ...waiting, biddingEndsAt: later(11 * minute) },
      { action: 'open' },
      { set: { openedAt: now, biddingEndsAt: later(10 * minute), pickupCells, timers: [expire, timer('dispatch')] } },
    ],
    [
      'the opening of a test ride starts its script, and no dispatch round',
      { ...waiting, ...test },
      { action: 'open' },
      { set: { openedAt: now, biddingEndsAt: later(10 * minute), timers: [expire, timer('offer', 1_000)] } },
    ],
    [
      'an accept of a test ride drives the car to the pickup',
      { ...test, offers: [one] },
      accept,
      {
        set: {
          ...toAccepted,
          leg: { ...leg(simulatedStart(rideWith()), pickup, 0, 1_500), heading: 'any' },
          timers: [stall, timer('arrive', 1_500)],
        },
        ...{ ...status, ...inTime },
      },
    ],
    [
      'the start of a test ride drives the car to the destination',
      { ...assigned, ...test, status: 'arrived', timers: [] },
      { action: 'start' },
      {
        set: {
          ...{ status: 'in_progress', statusAt: at, timers: [tripStall, timer('complete', 1_500)] },
          leg: { ...leg(pickup, destination, 0, 1_500), heading: 'any' },
        },
        ...status,
      },
    ],
    [
      'a ride that is cancelled while drivers are asked leaves their requests',
      { asked },
      cancel('partner'),
      { set: { ...cancelled('partner'), timers: [timer('driver')] }, ...status },
    ],
    [
      'an offer on a ride for which drivers are asked leaves no request',
      { asked },
      bid(),
      { set: { timers: [expire] }, newOffer, event: 'offer.received', ...inTime },
    ],
    [
      'a slow test ride drives until its next step',
      { ...assigned, ...test, scenario: 'slow', status: 'arrived', timers: [] },
      { action: 'start' },
      {
        set: {
          ...{ status: 'in_progress', statusAt: at, timers: [tripStall, timer('complete', 2 * minute)] },
          leg: { ...leg(pickup, destination, 0, 2 * minute), heading: 'any' },
        },
        ...status,
      },
    ],
  ];
  for (const [title, fields, command, change] of cases) {
    it(title, () => {
      const made = decided(fields, command);
      const { leg: car } = made?.set ?? {};
      expect(car ? { ...made, set: { ...made?.set, leg: { ...car, heading: 'any' } } } : made).to.deep.equal(change);
    });
  }

  it('a car that waits at the pickup keeps the heading of its arrival on a trip of zero length', () => {
    const ride = { ...assigned, ...test, status: 'arrived', destination: pickup } as Fields;
    const arrived = { from: { lat: 40, lng: -71 }, to: { lat: 40, lng: -71 }, heading: 123, startAt: now, endAt: now };
    expect(decided({ ...ride, leg: arrived }, { action: 'start' })?.set.leg?.heading).to.equal(123);
    expect(decided(ride, { action: 'start' })?.set.leg?.heading).to.equal(0);
  });

  it('a driver who cancels a ride with onDriverCancel gets the ride a successor, whose timer is due at once', () => {
    const change = decided(rebid, cancel('driver'));
    expect(change?.set.nextRideId).to.match(/^ride_/);
    expect(change?.set.timers).to.deep.equal([timer('rebid'), timer('driver')]);
  });

  it('an offer without an id gets one', () => {
    expect(decided({}, bid('new', { newId: undefined }))?.newOffer?.offerId).to.match(/^of/);
  });
});

describe('the refusals of decide', () => {
  const gone = offer('one', { withdrawnAt });
  const own = (count: number) => many(count, 'new', { withdrawnAt });
  const cases: [title: string, fields: Fields, command: Command, outcome: string][] = [
    ['the same offer again', { offers: [offer('first'), offer('two')] }, bid(), 'nothing'],
    ['the same accept again', assigned, accept, 'nothing'],
    ['the same fare again', {}, raise(20), 'nothing'],
    ['a lower fare', {}, raise(19), 'fare_not_higher'],
    ['an unknown offer', { offers: [one] }, { action: 'accept', offerId: 'two' }, 'offer_not_found'],
    ['an unknown offer of an ended ride', { status: 'cancelled' }, accept, 'offer_not_found'],
    ['an unknown offer of an assigned ride', assigned, { action: 'accept', offerId: 'two' }, 'offer_not_found'],
    [
      'a withdrawal of an unknown offer',
      { offers: [one] },
      { action: 'withdrawOffer', offerId: 'x' },
      'offer_not_found',
    ],
    ['a withdrawn offer', { offers: [gone] }, accept, 'offer_withdrawn'],
    [
      'another offer of an assigned ride',
      { ...assigned, offers: [one, offer('two')] },
      { action: 'accept', offerId: 'two' },
      'ride_not_bidding',
    ],
    ['the accepted offer of a cancelled ride', { ...assigned, status: 'cancelled' }, accept, 'ride_not_bidding'],
    ['the accepted offer of a completed ride', { ...assigned, status: 'completed' }, accept, 'ride_not_bidding'],
    ['a cancellation of an ended ride', { status: 'completed' }, cancel('partner'), 'ride_ended'],
    ['an arrival while bidding', {}, { action: 'arrive' }, 'illegal_step'],
    ['an opening after the accept', assigned, { action: 'open' }, 'illegal_step'],
    ['an opening of an open ride', {}, { action: 'open' }, 'illegal_step'],
    ['an offer before the opening', waiting, bid(), 'bidding_not_open'],
    ['an offer at the deadline', { biddingEndsAt: now }, bid(), 'bidding_over'],
    ['an offer just before the deadline', { biddingEndsAt: later(1) }, bid(), 'done'],
    ['a cancellation after the deadline', { biddingEndsAt: now }, cancel('partner'), 'done'],
    ['a second live offer of a driver', { offers: [offer('x', { driver: driver('new') })] }, bid(), 'offer_exists'],
    ['a third offer of a driver', { offers: own(2) }, bid(), 'done'],
    ['a fourth offer of a driver', { offers: own(3) }, bid(), 'driver_offers_full'],
    ['a fourth offer of a simulated driver', { ...test, offers: own(3) }, bid(), 'done'],
    ['the 50th offer', { offers: many(49) }, bid(), 'done'],
    ['the 51st offer', { offers: many(50) }, bid(), 'offers_full'],
    ['the 51st offer after withdrawals', { offers: many(50, 'many', { withdrawnAt }) }, bid(), 'offers_full'],
  ];
  for (const [title, fields, command, expected] of cases) {
    it(`${title} ends with ${expected}`, () => {
      expect(outcome(fields, command)).to.equal(expected);
    });
  }
});

describe('the timers that decide sets', () => {
  const simulated = simulatedOffer({ _id: 'ride_1', fare: 20, scenario: undefined }, 'offer').driver;
  const scripted: Fields = { ...test, timers: [expire, timer('offer', 9)] };
  const auto = (changes = {}): Fields => ({ autoAccept: { maxPrice: 22, ...changes } });
  const wait = { waitSeconds: 30 };

  const cases: [title: string, fields: Fields, command: Command, timers: Timer[], fired?: Timer['name']][] = [
    ['the timer that made the offer is gone', { timers: [expire, timer('withdraw')] }, bid(), [expire], 'withdraw'],
    [
      'a manual offer of the script replaces its timer',
      scripted,
      { ...bid(), driver: simulated } as Command,
      [expire, timer('accept', 1_500)],
    ],
    ['an offer outside the script keeps its timer', scripted, bid(), scripted.timers as Timer[]],
    ['a live ride follows no script', { timers: [expire] }, { ...bid(), driver: simulated } as Command, [expire]],
    ['an offer within the limits is accepted at once', auto(), bid(), [expire, timer('auto_accept')]],
    ['an offer above the price limit is not accepted', auto({ maxPrice: 21.99 }), bid(), [expire]],
    ['the best offer is accepted after the wait', auto(wait), bid(), [expire, timer('auto_accept', 30_000)]],
    [
      'a second offer does not prolong the wait',
      { ...auto(wait), timers: [expire, timer('auto_accept', 5)] },
      bid(),
      [expire, timer('auto_accept', 5)],
    ],
    [
      'without a wait, each offer makes the accept due',
      { ...auto({ waitSeconds: 0 }), timers: [expire, timer('auto_accept', 5)] },
      bid(),
      [expire, timer('auto_accept')],
    ],
    [
      'the wait ends 5 s before the deadline',
      { ...auto(wait), biddingEndsAt: later(20_000) },
      bid(),
      [expire, timer('auto_accept', 15_000)],
    ],
    [
      'the wait never ends in the past',
      { ...auto(wait), biddingEndsAt: later(2_000) },
      bid(),
      [expire, timer('auto_accept')],
    ],
    [
      'a withdrawal is no reason to accept',
      { ...auto(), offers: [one] },
      { action: 'withdrawOffer', offerId: 'one' },
      [expire],
    ],
    [
      'a withdrawal of one of five offers asks more drivers',
      { offers: [one, ...fourOthers] },
      { action: 'withdrawOffer', offerId: 'one' },
      [expire, timer('ask')],
    ],
    [
      'a withdrawal of one of six offers asks nobody',
      { offers: [one, offer('six'), ...fourOthers] },
      { action: 'withdrawOffer', offerId: 'one' },
      [expire],
    ],
    [
      'a withdrawal keeps the script',
      { ...scripted, offers: [one] },
      { action: 'withdrawOffer', offerId: 'one' },
      scripted.timers as Timer[],
    ],
  ];
  for (const [title, fields, command, timers, fired] of cases) {
    it(title, () => {
      expect(decided(fields, command, fired)?.set.timers).to.deep.equal(timers);
    });
  }
});

describe('the first fields of a ride', () => {
  const [dispatch, opened] = [
    timer('dispatch'),
    { biddingEndsAt: later(10 * minute), pickupCells: wideCellsAt(pickup) },
  ];
  for (const [title, pickupAt, fields] of [
    ['a ride for now opens at once', undefined, { ...opened, timers: [expire, dispatch] }],
    [
      'a ride for later waits until its drivers must be asked',
      later(31 * minute),
      { biddingOpensAt: later(minute), biddingEndsAt: later(11 * minute), timers: [timer('open', minute)] },
    ],
    [
      'a ride for later whose drivers must be asked now opens at once',
      later(30 * minute),
      { biddingOpensAt: now, openedAt: now, ...opened, timers: [expire, dispatch] },
    ],
  ] as const) {
    it(title, () => {
      expect(firstFields({ mode: 'live', scenario: undefined, pickup, pickupAt }, now, timing)).to.deep.equal(fields);
    });
  }
});
