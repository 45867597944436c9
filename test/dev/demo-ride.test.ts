import { expect } from 'chai';
import { type Partner, type ReceivedEvent, startReceiver } from '../../dev/demo/partner.ts';
import { playRide } from '../../dev/demo/play-ride.ts';
import { createTimeline, type Timeline } from '../../dev/demo/timeline.ts';
import { signatureHeader } from '../../shared/webhooks/sign.ts';

const timeline: Timeline = { entry() {}, note() {}, progress() {}, elapsed: () => '', end() {} };
const trackUrl = 'http://127.0.0.1:4100/track/token';
const ride = { rideId: 'ride_1', status: 'bidding', fare: 24.5, distanceKm: 6, trackUrl };
const offer = { price: 24.5, etaMinutes: 4, driver: { name: 'Alex' } };
const partner: Partner = {
  createRide: async () => ride,
  retrieveRide: async () => ({ ...ride, status: 'completed' }),
  listOffers: async () => ({ offers: [{ offerId: 'offer_1', ...offer, driver: { name: 'Alex', plate: 'T 1' } }] }),
  acceptOffer: async () => ({ status: 'driver_arriving' }),
};

/** The events of a successful demo. */
function wholeTrip(): ReceivedEvent[] {
  const statuses = [undefined, 'driver_arriving', 'arrived', 'in_progress', 'completed'];
  return statuses.map((status, index) => ({
    receivedAt: index,
    isVerified: true,
    sequence: index + 1,
    body: {
      event: status ? 'ride.status' : 'offer.received',
      rideId: ride.rideId,
      at: 1000 + index,
      ...(status ? { status, fare: 24.5, driver: { name: 'Alex', vehicle: 'Camry', plate: 'T 1' } } : { offer }),
    },
  }));
}

function play(events: ReceivedEvent[], as: Partner = partner, shownOn = timeline): Promise<number> {
  const next = async () => {
    const event = events.shift();
    if (!event) throw new Error('no event arrived');
    return event;
  };
  const receiver = { origin: '', secret: '', next, waiting: () => events.length, stop() {} };
  return playRide(shownOn, as, receiver, 1);
}

/** The whole trip with one event changed. */
function tripWith(index: number, change: (event: ReceivedEvent) => void): ReceivedEvent[] {
  const events = wholeTrip();
  change(events[index] as ReceivedEvent);
  return events;
}

describe('npm run demo', () => {
  for (const columns of [60, 80]) {
    it(`the demo prints the events and the price in ${columns} columns, with times since the start`, async () => {
      let text = '';
      const out = { columns, isTTY: false, write: (chunk: string) => (text += chunk) } as never;
      const begun = createTimeline(out, Date.now() - 4_000);
      const receivedAt = Date.now();
      await play(
        wholeTrip().map((event) => ({ ...event, receivedAt })),
        partner,
        begun,
      );
      begun.end();
      for (const line of text.split('\n')) expect(line.length, line).to.be.at.most(columns);
      expect(text)
        .to.match(/Alex offers \$24\.50, 4 min away/)
        .and.match(/is coming: Camry, T 1/);
      expect(text).to.match(/^ +4\.0 s +completed +at Wall Street, \$24\.50 paid/m);
    });
  }

  it('the demo plays a complete ride and counts its events', async () => {
    expect(await play(wholeTrip())).to.equal(5);
  });

  const faults: [what: string, events: ReceivedEvent[], reason: RegExp][] = [
    [
      'a wrong signature',
      tripWith(2, (event) => Object.assign(event, { isVerified: false })),
      /signature of .*arrived/,
    ],
    ['a missing event', wholeTrip().toSpliced(2, 1), /in_progress arrived, but ride.status arrived was due/],
    ['a duplicate event', wholeTrip().toSpliced(2, 0, ...wholeTrip().slice(1, 2)), /but .* arrived was due/],
    ['a missing last event', wholeTrip().slice(0, 4), /no event arrived/],
    ['an additional event', [...wholeTrip(), ...wholeTrip().slice(4)], /more events/],
    ['a wrong sequence', tripWith(3, (event) => Object.assign(event, { sequence: 5 })), /event 5 .* event 4 was due/],
    ['an event of another ride', tripWith(1, ({ body }) => Object.assign(body, { rideId: 'ride_2' })), /another ride/],
    ['a time that does not increase', tripWith(1, ({ body }) => Object.assign(body, { at: 1000 })), /not later/],
  ];
  for (const [what, events, reason] of faults) {
    it(`the demo fails with the reason for ${what}`, async () => {
      const error = await play(events).catch((rejection) => rejection);
      expect(error).to.be.an('error').with.property('message').that.matches(reason);
    });
  }

  it('the demo fails if the ride is not completed at the end', async () => {
    const error = await play(wholeTrip(), { ...partner, retrieveRide: async () => ride }).catch((e) => e);
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
