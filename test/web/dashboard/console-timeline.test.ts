import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { nextStepOf } from '../../../web/dashboard/driver-steps.tsx';
import { creationAsCurl, firstValues, requestBody } from '../../../web/kit/ride-request.ts';

const start = Date.UTC(2026, 10, 21, 14);
const at = (ms: number) => new Date(start + ms);

describe('the manual steps of a test ride', () => {
  it('the page names the timer that is due next, and no timer after the end of the ride', () => {
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
      pickup: { lat: 57.6997, lng: 11.9523, address: 'Järntorget, Gothenburg' },
      destination: { lat: 57.7074, lng: 11.9385, address: 'Lindholmen, Gothenburg' },
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
      passengerLocale: 'pt-BR',
      texting: 'no',
      pin: 'yes',
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
      passenger: { name: 'Ada Byron', locale: 'pt-BR' },
      notify: { passenger: false },
      pin: true,
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
