import { expect } from 'chai';
import { revokeKey } from '../../shared/keys/manage-keys.ts';
import { rideStatuses } from '../../shared/rides/ride-types.ts';
import type { Answer } from '../support/client.ts';
import { signedIn } from '../support/dashboard.ts';
import { rawRequest, requestText } from '../support/raw-http.ts';
import { rideIn } from '../support/rides.ts';
import { useTestApi } from '../support/service.ts';

type Operation = [name: string, method: 'GET' | 'POST', path: string, body?: string];
const operations: Operation[] = [
  ['retrieve', 'GET', ''],
  ['offers', 'GET', '/offers'],
  ['events', 'GET', '/events?waitSeconds=30'],
  ['accept', 'POST', '/accept', '{"offerId":"offer_x"}'],
  ['cancel', 'POST', '/cancel'],
  ['raising the fare', 'POST', '/fare', '{"fare":99}'],
];
const bases = ['/v1', '/api/v1'];

const impossibleIds = [
  ...'x ride_ null undefined __proto__ constructor toString %00 ride_%00 %E0%A4%A % %ZZ %F0%9F%9A%95 %22'.split(' '),
  ...'%7B%22%24gt%22%3A%22%22%7D %2e%2e%2fetc %2F .* $ne %20'.split(' '),
  'ride_'.repeat(2_000),
];

describe('rides of another key', () => {
  const api = useTestApi();

  it('concurrent requests of several keys in one batch never see the rides of other keys', async () => {
    const [owner, stranger, revoked] = await Promise.all([api.partner(), api.partner(), api.partner()]);
    const [own, theirs] = await Promise.all([owner.createRide(), stranger.createRide()]);
    await revokeKey(revoked.keyId, 'anyone');
    const askedFor = [own.body.rideId, theirs.body.rideId, 'ride_of_nobody'];
    for (const path of ['', '/offers', '/events']) {
      const statuses = await Promise.all(
        [owner, stranger, revoked].flatMap((partner) =>
          askedFor.map(async (rideId) => {
            const { status, body } = await partner.get(`/rides/${rideId}${path}`);
            return status === 200 ? body.rideId === rideId && status : status;
          }),
        ),
      );
      expect(statuses).to.deep.equal([200, 404, 404, 404, 200, 404, 401, 401, 401]);
    }
  });

  const ask = (base: string, [, method, path, body]: Operation, rideId: string, key: string) =>
    rawRequest(
      api.url,
      requestText(
        [
          `${method} ${base}/rides/${rideId}${path} HTTP/1.1`,
          'Host: rides.example',
          `Authorization: Bearer ${key}`,
          'Content-Type: application/json',
          `Content-Length: ${body?.length ?? 0}`,
          'Connection: close',
        ],
        body,
      ),
    );

  /** A key of the same account, one of the other mode, and one of another account. */
  let strangers: { key: string }[] = [];
  /** A ride in each status. */
  let foreignIds: string[] = [];
  before(async () => {
    strangers = [await api.key('live'), await api.key('test'), await (await signedIn(api)).newKey('live')];
    const owner = await api.partner('live');
    const rides = await Promise.all(rideStatuses.map((status) => rideIn(api.ctx, status, { by: owner })));
    foreignIds = rides.map(({ rideId }) => rideId);
  });

  for (const base of bases) {
    for (const operation of operations) {
      it(`${operation[0]} under ${base} answers the same 404 for another key's ride, in any status, as for an unknown one`, async () => {
        for (const { key } of strangers) {
          for (const rideId of foreignIds) {
            // An unknown id that looks like a real one.
            const unknownId = `${rideId.slice(0, -5)}zzzzz`;
            const foreign = await ask(base, operation, rideId, key);
            const unknown = await ask(base, operation, unknownId, key);

            expect(foreign.statusLine).to.equal(unknown.statusLine).and.equal('HTTP/1.1 404 Not Found');
            expect(foreign.text).to.equal(unknown.text);
            expect(foreign.headers['x-service-error']).to.equal('ride_not_found');
            expect(foreign.text).not.to.include(rideId);
            for (const { headers } of [foreign, unknown]) {
              expect(headers['x-request-id']).to.be.a('string');
              delete headers['x-request-id'];
              delete headers.date;
            }
            expect(Object.entries(foreign.headers)).to.deep.equal(Object.entries(unknown.headers));
          }
        }
      });
    }
  }

  it('accept and cancel with another key answer 404 and do not change the ride, also after its end', async () => {
    const [owner, stranger] = [await api.partner('live'), await api.partner('live')];
    const { rideId, offer } = await rideIn(api.ctx, 'bidding', { by: owner });
    const answers: Answer[] = [
      await stranger.post(`/rides/${rideId}/accept`, { offerId: offer.offerId }),
      await stranger.post(`/rides/${rideId}/cancel`),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([404, 404]);
    expect((await owner.get(`/rides/${rideId}`)).body.status).to.equal('bidding');
    await owner.post(`/rides/${rideId}/cancel`);
    expect((await stranger.post(`/rides/${rideId}/cancel`)).status).to.equal(404);
  });

  it('every operation answers the same 404 for every impossible ride id', async () => {
    const { key } = await api.partner();
    for (const operation of operations) {
      const unknown = await ask('/v1', operation, 'ride_unknown', key);
      for (const id of impossibleIds) {
        const impossible = await ask('/v1', operation, id, key);
        expect([impossible.status, impossible.text], id.slice(0, 30)).to.deep.equal([404, unknown.text]);
      }
    }
  });

  it('a ride id in upper case or with extra characters answers 404', async () => {
    const owner = await api.partner('live');
    const { rideId } = await rideIn(api.ctx, 'bidding', { by: owner });
    for (const id of [rideId.toUpperCase(), `${rideId}%20`, `%20${rideId}`, `${rideId}%00`, `${rideId}%0A`]) {
      expect((await ask('/v1', ['retrieve', 'GET', ''], id, owner.key)).status).to.equal(404);
    }
  });
});
