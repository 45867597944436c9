import { expect } from 'chai';
import { createTimeline, type Timeline } from '../../dev/demo/demo-timeline.ts';
import { type EventBody, type Partner, type ReceivedEvent, startReceiver } from '../../dev/demo/partner.ts';
import { playLiveRide, playRide } from '../../dev/demo/play-ride.ts';
import { signatureHeader } from '../../shared/webhooks/sign.ts';

const timeline: Timeline = { entry() {}, note() {}, progress() {}, elapsed: () => '', end() {} };
const trackUrl = 'http://127.0.0.1:4100/track/token';
const ride = { rideId: 'ride_1', status: 'bidding', fare: 24.5, distanceKm: 6, trackUrl };
const statuses = ['driver_arriving', 'arrived', 'in_progress', 'completed'];
const offers = [26, 24.5, 27, 30].map((price, index) => ({
  offerId: `offer_${index}`,
  price,
  etaMinutes: 4,
  driver: { name: 'Alex', plate: `T ${index}`, vehicle: 'Camry' },
}));
const [firstOffer, cheapest] = offers;
const isCompleted = { ...ride, status: 'completed', agreedPrice: 24.5 };

const partnerWith = (changes: Partial<Partner> = {}): Partner => ({
  createRide: async () => ride,
  retrieveRide: async () => isCompleted,
  listOffers: async () => ({ offers }),
  acceptOffer: async () => ({ status: 'driver_arriving' }),
  ...changes,
});

/** The events of a demo with these offers. The driver of the cheapest one drives. */
function tripWith(listed: typeof offers, index = 0, change: (event: ReceivedEvent) => void = () => {}) {
  const bodies: Partial<EventBody>[] = [
    ...listed.map((offer) => ({ event: 'offer.received', offer })),
    ...statuses.map((status) => ({
      ...{ event: 'ride.status', status, fare: 24.5, agreedPrice: 24.5, driver: cheapest?.driver },
    })),
  ];
  const events = bodies.map((body, position) => ({
    receivedAt: position,
    isVerified: true,
    sequence: position + 1,
    body: { rideId: ride.rideId, at: 1_000 + position, ...body } as EventBody,
  }));
  change(events[index] as ReceivedEvent);
  return events;
}
/** The events of a successful demo with test mode, or one with a change. */
const tripOf = (index?: number, change?: (event: ReceivedEvent) => void) => tripWith(offers.slice(1, 2), index, change);
/** The same of a live ride: its last offer arrives between the acceptance and its event. */
const liveTrip = (index?: number, change?: (event: ReceivedEvent) => void) => tripWith(offers, index, change);

function play(events: ReceivedEvent[], as = partnerWith(), shownOn = timeline, playing = playRide): Promise<number> {
  const next = async () => {
    const event = events.shift();
    if (!event) throw new Error('no event arrived');
    return event;
  };
  const receiver = { origin: '', secret: '', next, waiting: () => events.length, stop() {} };
  return playing(shownOn, as, receiver, 1);
}
const playLive = (events: ReceivedEvent[], as?: Partner) => play(events, as, timeline, playLiveRide);

describe('npm run demo', () => {
  for (const columns of [60, 80]) {
    it(`the demo prints the events and the price in ${columns} columns, with times since the start`, async () => {
      let text = '';
      const out = { columns, isTTY: false, write: (chunk: string) => (text += chunk) } as never;
      const begun = createTimeline(out, Date.now() - 4_000);
      const receivedAt = Date.now();
      await play(
        tripOf().map((event) => ({ ...event, receivedAt })),
        partnerWith(),
        begun,
      );
      begun.end();
      for (const line of text.split('\n')) expect(line.length, line).to.be.at.most(columns);
      expect(text)
        .to.match(/Alex offers \$24\.50, 4 min away/)
        .and.match(/is coming: Camry, T 1/);
      expect(text).to.match(/^ +4\.0 s +completed +at Lindholmen, \$24\.50 paid/m);
    });
  }

  it('the demo plays a complete ride and counts its events', async () => {
    expect(await play(tripOf())).to.equal(5);
  });

  it('the live demo accepts the cheapest offer and plays the ride to its end, also with a late offer', async () => {
    let accepted = '';
    const acceptOffer: Partner['acceptOffer'] = async (_rideId, offerId) => {
      accepted = offerId;
      return { status: 'driver_arriving' };
    };
    expect(await playLive(liveTrip(), partnerWith({ acceptOffer }))).to.equal(8);
    expect(accepted).to.equal('offer_1');
  });

  const faults: [what: string, events: ReceivedEvent[], reason: RegExp, how?: typeof playLive][] = [
    ['a wrong signature', tripOf(2, (event) => Object.assign(event, { isVerified: false })), /signature of .*arrived/],
    ['a missing event', tripOf().toSpliced(2, 1), /in_progress arrived, but ride.status arrived was due/],
    ['a duplicate event', tripOf().toSpliced(2, 0, ...tripOf().slice(1, 2)), /but .* arrived was due/],
    ['a missing last event', tripOf().slice(0, 4), /no event arrived/],
    ['an additional event', [...tripOf(), ...tripOf().slice(4)], /more events/],
    ['a wrong sequence', tripOf(3, (event) => Object.assign(event, { sequence: 5 })), /event 5 .* event 4 was due/],
    ['an event of another ride', tripOf(1, ({ body }) => Object.assign(body, { rideId: 'ride_2' })), /another ride/],
    ['a time that does not increase', tripOf(1, ({ body }) => Object.assign(body, { at: 1000 })), /not later/],
    ['a missing live event', liveTrip().toSpliced(5, 1), /event 7 arrived, but event 6 was due/, playLive],
    [
      'a skipped live step',
      liveTrip(5, ({ body }) => Object.assign(body, { status: 'in_progress' })),
      /in_progress arrived, but ride.status arrived was due/,
      playLive,
    ],
    [
      'a status instead of an offer',
      liveTrip(1, ({ body }) => Object.assign(body, { event: 'ride.status', status: 'cancelled', offer: undefined })),
      /cancelled arrived, but offer.received was due/,
      playLive,
    ],
    [
      'another driver',
      liveTrip(6, ({ body }) => Object.assign(body, { driver: firstOffer?.driver })),
      /another driver/,
      playLive,
    ],
    ['another price', liveTrip(7, ({ body }) => Object.assign(body, { agreedPrice: 26 })), /another price/, playLive],
    ['an event of test mode', liveTrip(4, ({ body }) => Object.assign(body, { testMode: true })), /testMode/, playLive],
  ];
  for (const [what, events, reason, how = play] of faults) {
    it(`the demo fails with the reason for ${what}`, async () => {
      const error = await how(events).catch((rejection) => rejection);
      expect(error).to.be.an('error').with.property('message').that.matches(reason);
    });
  }

  it('the demo fails if the ride is not completed at the end', async () => {
    const error = await play(tripOf(), partnerWith({ retrieveRide: async () => ride })).catch((e) => e);
    expect(error).to.have.property('message', 'the ride was not completed');
  });
});

describe("the demo's receiver", () => {
  it('the receiver verifies the signature of the raw body, and returns events in order of arrival', async () => {
    const receiver = await startReceiver();
    receiver.secret = 'whsec_test';
    const now = Math.floor(Date.now() / 1000);
    const body = '{ "event": "ride.status",  "rideId": "ride_1" }';
    const good = signatureHeader(receiver.secret, body, now);
    const headers = [
      good,
      signatureHeader('whsec_other', body, now),
      signatureHeader(receiver.secret, body, now - 300),
    ];
    for (const signature of headers) {
      const answer = await fetch(receiver.origin, {
        method: 'POST',
        headers: { 'X-Service-Signature': signature, 'X-Service-Sequence': '7' },
        body,
      });
      expect(answer.status).to.equal(204);
    }
    const received = [await receiver.next(1_000), await receiver.next(1_000), await receiver.next(1_000)];
    expect(received.map((event) => event.isVerified)).to.deep.equal([true, false, false]);
    expect(received[0]).to.deep.include({ sequence: 7, body: { event: 'ride.status', rideId: 'ride_1' } });
    expect(await receiver.next(10).catch((error) => error.message)).to.equal('no event arrived within 0.01 s');
    receiver.stop();
  });
});
