import { expect } from 'chai';
import type { EventBody, Partner, ReceivedEvent } from '../../dev/demo/partner.ts';
import { playLiveRide } from '../../dev/demo/play-ride.ts';
import type { Timeline } from '../../dev/demo/timeline.ts';

const timeline: Timeline = { entry() {}, note() {}, progress() {}, elapsed: () => '', end() {} };
const ride = { rideId: 'ride_1', status: 'bidding', fare: 24.5, distanceKm: 6, trackUrl: 'http://127.0.0.1/track/t' };
const prices = [26, 24.5, 27, 30];
const offers = prices.map((price, index) => ({
  offerId: `offer_${index}`,
  price,
  etaMinutes: 4,
  driver: { name: `Driver ${index}`, plate: `F ${index}`, vehicle: 'Prius' },
}));
const chosen = offers[1]?.driver;

/** The events of a successful demo: the last offer arrives between the acceptance and its event. */
function wholeTrip(): ReceivedEvent[] {
  const bodies: Partial<EventBody>[] = [
    ...offers.map((offer) => ({ event: 'offer.received', offer })),
    ...['driver_arriving', 'arrived', 'in_progress', 'completed'].map((status) => ({
      ...{ event: 'ride.status', status, fare: 24.5, agreedPrice: 24.5, driver: chosen },
    })),
  ];
  return bodies.map((body, index) => ({
    receivedAt: index,
    isVerified: true,
    sequence: index + 1,
    body: { rideId: ride.rideId, at: 1_000 + index, ...body } as EventBody,
  }));
}

async function play(events: ReceivedEvent[]): Promise<{ count: number; accepted: string }> {
  let accepted = '';
  const partner: Partner = {
    createRide: async () => ride,
    retrieveRide: async () => ({ ...ride, status: 'completed', agreedPrice: 24.5 }),
    listOffers: async () => ({ offers }),
    async acceptOffer(_rideId, offerId) {
      accepted = offerId;
      return { status: 'driver_arriving' };
    },
  };
  const next = async () => {
    const event = events.shift();
    if (!event) throw new Error('no event arrived');
    return event;
  };
  const receiver = { origin: '', secret: '', next, waiting: () => events.length, stop() {} };
  return { count: await playLiveRide(timeline, partner, receiver, 1_000), accepted };
}

/** The whole trip with one event changed. */
function tripWith(index: number, change: (event: ReceivedEvent) => void): ReceivedEvent[] {
  const events = wholeTrip();
  change(events[index] as ReceivedEvent);
  return events;
}

describe('npm run demo -- --live', () => {
  it('the live demo accepts the cheapest offer and plays the ride to its end, also with a late offer', async () => {
    expect(await play(wholeTrip())).to.deep.equal({ count: 8, accepted: 'offer_1' });
  });

  const faults: [what: string, events: ReceivedEvent[], reason: RegExp][] = [
    ['a wrong signature', tripWith(1, (event) => Object.assign(event, { isVerified: false })), /signature of offer/],
    ['a missing event', wholeTrip().toSpliced(5, 1), /event 7 arrived, but event 6 was due/],
    [
      'a skipped step',
      tripWith(5, ({ body }) => Object.assign(body, { status: 'in_progress' })),
      /in_progress arrived, but ride.status arrived was due/,
    ],
    [
      'a status instead of an offer',
      tripWith(1, ({ body }) => Object.assign(body, { event: 'ride.status', status: 'cancelled', offer: undefined })),
      /cancelled arrived, but offer.received was due/,
    ],
    ['another driver', tripWith(6, ({ body }) => Object.assign(body, { driver: offers[0]?.driver })), /another driver/],
    ['another price', tripWith(7, ({ body }) => Object.assign(body, { agreedPrice: 26 })), /another price/],
    ['an event of test mode', tripWith(4, ({ body }) => Object.assign(body, { testMode: true })), /testMode/],
    ['a missing last event', wholeTrip().slice(0, 7), /no event arrived/],
    ['an additional event', [...wholeTrip(), ...wholeTrip().slice(7)], /more events/],
  ];
  for (const [what, events, reason] of faults) {
    it(`the live demo fails with the reason for ${what}`, async () => {
      const error = await play(events).catch((rejection) => rejection);
      expect(error).to.be.an('error').with.property('message').that.matches(reason);
    });
  }
});
