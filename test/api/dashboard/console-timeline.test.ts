import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { ConsoleRide } from '../../../api/dashboard/console/console-ride.ts';
import { detailOf, nextStepOf, offsetText } from '../../../api/dashboard/console/timeline.tsx';
import { titleOf } from '../../../api/dashboard/rides/timeline.tsx';
import type { Delivery, Offer, RideEvent } from '../../../shared/rides/ride-types.ts';
import { historyOf } from '../../../shared/webhooks/ride-history.ts';
import { creationAsCurl, firstValues, requestBody } from '../../../web/kit/ride-request.ts';

const start = Date.UTC(2026, 10, 21, 14);
const at = (ms: number) => new Date(start + ms);

const driver = { driverId: 'd', name: 'Dana', phone: '+12025550100', rating: 4.8, vehicle: 'Prius', plate: 'T-1' };
const offer: Offer = { offerId: 'offer_1', price: 20, etaMinutes: 4, driver, at: at(2_000) };
const received: RideEvent = {
  seq: 1,
  event: 'offer.received',
  at: at(2_000),
  body: JSON.stringify({ event: 'offer.received', offer }),
};
const changed = (seq: number, status: string, ms: number, delivery?: Delivery): RideEvent => ({
  seq,
  event: 'ride.status',
  at: at(ms),
  body: JSON.stringify({ event: 'ride.status', status }),
  delivery,
});
const ride = {
  ...{ mode: 'test', createdAt: at(0), fare: 25, distanceKm: 5.31 },
  ...{ status: 'bidding', offers: [], events: [], timers: [], settledSeq: 0 },
} as unknown as ConsoleRide;
const wordsOf = (of: ConsoleRide) => historyOf(of, [], start).map((entry) => [titleOf(entry), detailOf(entry, of)]);

describe('the timeline of a test ride', () => {
  it('the timeline shows each event once, in the order of time, with its outcome', () => {
    const delivery: Delivery = { outcome: 'delivered', httpStatus: 200, durationMs: 12, at: at(5_010) };
    const events = [received, changed(2, 'driver_arriving', 5_000, delivery), changed(3, 'arrived', 8_000)];
    const arrived: ConsoleRide = {
      ...{ ...ride, status: 'arrived' },
      ...{ driver, agreedPrice: 20, offers: [offer], events },
    };
    expect(wordsOf(arrived)).to.deep.equal([
      ['Ride requested', '$25.00 for 5.3 km'],
      ['Offer received', 'Dana for $20.00, 4 min away'],
      ['Offer accepted', 'Dana for $20.00'],
      ['Driver at the pickup', ''],
    ]);
    const entries = historyOf(arrived, [], start);
    expect(entries.map(({ event }) => event?.delivery?.outcome)).to.deep.equal([
      undefined,
      undefined,
      'delivered',
      undefined,
    ]);
    expect(new Set(entries.map(({ id }) => id)).size).to.equal(entries.length);
  });

  it('the timeline shows a withdrawn offer, which has no event, at its time', () => {
    const withdrawn = { ...offer, withdrawnAt: at(4_000) };
    const events = [received, changed(2, 'cancelled', 9_000)];
    const cancelled: ConsoleRide = {
      ...{ ...ride, status: 'cancelled', cancelReason: 'partner' },
      ...{ offers: [withdrawn], events },
    };
    expect(wordsOf(cancelled)).to.deep.equal([
      ['Ride requested', '$25.00 for 5.3 km'],
      ['Offer received', 'Dana for $20.00, 4 min away'],
      ['Offer withdrawn', 'Dana, $20.00'],
      ['Ride cancelled', 'The partner cancelled'],
    ]);
  });

  it('the timeline shows the first fare, and the fare after the last raise', () => {
    const raised = { ...ride, fare: 30, firstFare: 25, fareRaisedAt: at(1_000), offers: [offer], events: [received] };
    expect(wordsOf(raised)).to.deep.equal([
      ['Ride requested', '$25.00 for 5.3 km'],
      ['Fare raised', 'To $30.00'],
      ['Offer received', 'Dana for $20.00, 4 min away'],
    ]);
  });

  it('the timeline names the timer that is due next, and no timer after the end of the ride', () => {
    const timers = [
      { name: 'expire', dueAt: at(600_000) },
      { name: 'offer', dueAt: at(2_000) },
    ] as const;
    expect(nextStepOf({ status: 'bidding', timers: [...timers] })).to.deep.equal({
      words: 'A driver makes an offer',
      at: start + 2_000,
    });
    expect(nextStepOf({ status: 'cancelled', timers: [...timers] })).to.equal(null);
  });

  it('the timeline shows the time since creation in seconds, minutes or hours', () => {
    const texts = [0, 2_040, 99_900, 600_000, 7_200_000].map((ms) => offsetText(start + ms, start));
    expect(texts).to.deep.equal(['+0.0 s', '+2.0 s', '+99.9 s', '+10 min', '+2 h']);
  });
});

describe('a creation as a curl command', () => {
  /** The arguments that a shell passes to curl. */
  async function wordsIn(command: string): Promise<string[]> {
    const script = `curl() { printf '%s\\0' "$@"; }\n${command}`;
    const { stdout } = await promisify(execFile)('sh', ['-c', script], { env: { SVC_TEST_KEY: 'svc_test_1' } });
    return stdout.split('\0').slice(0, -1);
  }

  it('the curl command contains a variable instead of the key, and the scenario unless it is the default', () => {
    const command = creationAsCurl({ apiUrl: 'https://rides.example/v1', scenario: 'default', body: { fare: 1 } });
    expect(command).to.include('"Authorization: Bearer $SVC_TEST_KEY"').and.not.include('Scenario');
    const stalls = creationAsCurl({ apiUrl: 'https://rides.example/v1', scenario: 'stalls', body: {} });
    expect(stalls).to.include("'X-Service-Test-Scenario: stalls'");
  });

  it('a shell passes every typed character of the curl command to curl unchanged', async () => {
    const address = `"$HOME" \`id\` 'quoted' \\ !x $(id) %s\n*`;
    const body = { pickup: { lat: 1, lng: 2, address }, fare: 25 };
    const command = creationAsCurl({ apiUrl: 'https://rides.example/a b/v1', scenario: 'no_offers', body });
    const words = await wordsIn(command);
    expect(words.slice(0, -1)).to.deep.equal([
      'https://rides.example/a b/v1/rides',
      '-H',
      'Authorization: Bearer svc_test_1',
      '-H',
      'Content-Type: application/json',
      '-H',
      'X-Service-Test-Scenario: no_offers',
      '-d',
    ]);
    expect(JSON.parse(words.at(-1) ?? '')).to.deep.equal(body);
  });
});

describe('the request of the console’s form', () => {
  it('typed numbers are converted, and other text is left to the validation', () => {
    const sent = (typed: Record<string, string>) =>
      JSON.parse(JSON.stringify(requestBody((field) => typed[field] ?? '')));
    const first = {
      pickup: { lat: 40.758, lng: -73.9855, address: 'Times Square, New York' },
      destination: { lat: 40.7128, lng: -74.006, address: 'City Hall, New York' },
      fare: 24.5,
    };
    expect(sent(firstValues)).to.deep.equal(first);
    expect(sent({ pickupLat: ' ', pickupLng: '1e3', fare: '24,50' })).to.deep.equal({
      pickup: { lng: '1e3' },
      destination: {},
      fare: '24,50',
    });
    const more = {
      carType: 'comfort',
      rideType: 'intercity',
      passengerCount: '3',
      passengerName: 'Ada Byron',
      reference: ' RES-20332 ',
      notes: 'Side door',
      maxPrice: '30',
      maxEtaMinutes: '8',
      waitSeconds: '20',
      pickupTime: '2026-11-24T21:30',
      onDriverCancel: 'rebid',
      needs: 'pet, child_seat',
      distanceKm: '7.5',
      webhookUrl: 'https://partner.example/hook',
      metadata: 'room=1204\r\n\r\nmath = a=b ',
    };
    expect(sent({ ...firstValues, ...more })).to.deep.equal({
      ...first,
      carType: 'comfort',
      rideType: 'intercity',
      passengerCount: 3,
      passenger: { name: 'Ada Byron' },
      reference: 'RES-20332',
      notes: 'Side door',
      autoAccept: { maxPrice: 30, maxEtaMinutes: 8, waitSeconds: 20 },
      pickupAt: Date.UTC(2026, 10, 24, 21, 30),
      onDriverCancel: 'rebid',
      needs: ['pet', 'child_seat'],
      distanceKm: 7.5,
      webhookUrl: 'https://partner.example/hook',
      metadata: { room: '1204', math: 'a=b' },
    });
  });
});
