import { expect } from 'chai';
import { createApp } from '../../../api/app.ts';
import { serve } from '../../../api/http/serve.ts';
import { suspendAccount } from '../../../shared/keys/suspend-account.ts';
import { fetchJson } from '../../../shared/outbound/fetch-json.ts';
import { signedIn, visitorOf } from '../../support/dashboard.ts';
import { withLogLines } from '../../support/log-lines.ts';
import { answerByPath, useGeocoder } from '../../support/operator-server.ts';
import { storedRide } from '../../support/stored-rides.ts';
import { memberOf } from '../../support/team.ts';
import { deskPath, useTestDesk } from '../../support/test-desk.ts';

const path = `${deskPath}/search`;
const pennStation = { lat: 40.7506, lng: -73.9935 };

describe('the address search of a desk', () => {
  const geocoder = useGeocoder();
  const nominatim = useTestDesk(() => ({ GEOCODER_URL: `${geocoder.origin}/search?countrycodes=us` }));
  const { api, visitor } = nominatim;
  beforeEach(() => {
    geocoder.asked.length = 0;
    geocoder.answerWith(answerByPath);
  });

  const search = async (q: string, by = visitor) => {
    const { status, html, headers } = await by.post(path, { q });
    return { status, body: status === 403 ? undefined : JSON.parse(html), headers };
  };

  it('finds addresses with Nominatim, near the default pickup, and keeps the parameters of the setting', async () => {
    const { status, body } = await search(' penn station ');
    expect(status).to.equal(200);
    expect(body.results).to.deep.equal([
      { label: 'Penn Station, 8th Avenue, New York, 10001, United States', ...pennStation },
      { label: 'Newark Penn Station', lat: 40.7, lng: -74.1 },
    ]);
    const [request] = geocoder.asked;
    expect(Object.fromEntries(request?.url.searchParams ?? [])).to.deep.equal({
      ...{ countrycodes: 'us', q: 'penn station', format: 'jsonv2', limit: '5' },
      viewbox: '-74.5060,41.2128,-73.5060,40.2128',
    });
    expect(request?.userAgent).to.match(/^RidePartner/);
  });

  it('an account searches at most twice at once, so that a hanging geocoder does not keep others waiting', async () => {
    let answer = () => {};
    const isAsked = new Promise<void>((resolve) => {
      geocoder.answerWith((_, response) => {
        const before = answer;
        answer = () => {
          before();
          response.end('[]');
        };
        if (geocoder.asked.length === 2) resolve();
      });
    });
    const running = [search('one'), search('two')];
    await isAsked;
    expect((await search('three')).status).to.equal(429);
    expect(geocoder.asked).to.have.length(2);
    answer();
    for (const { status } of await Promise.all(running)) expect(status).to.equal(200);
  });

  it('a suspended account searches no addresses', async () => {
    const desk = await signedIn(api);
    await suspendAccount(desk.account._id);
    expect((await search('street', desk)).status).to.equal(403);
    expect(geocoder.asked).to.deep.equal([]);
  });

  it('answers with at most 5 addresses', async () => {
    const many = Array.from({ length: 9 }, (_, index) => ({ lat: '1', lon: '2', display_name: `Street ${index}` }));
    geocoder.answerWith((_, response) => void response.end(JSON.stringify(many)));
    expect((await search('street')).body.results).to.have.length(5);
  });

  it('a long label that is cut at a space can be chosen for a ride', async () => {
    const display_name = `${'x'.repeat(199)} New York`;
    geocoder.answerWith(
      (_, response) => void response.end(JSON.stringify([{ lat: '40.75', lon: '-73.99', display_name }])),
    );
    const [{ label, lat, lng }] = (await search('long')).body.results;
    const rideId = await nominatim.book({ to: label, toPoint: `${lat},${lng} ${label}` });
    expect((await storedRide(rideId)).destination).to.deep.equal({ lat, lng, address: 'x'.repeat(199) });
  });

  it('a label has no invisible characters, which the forms of the desk refuse', async () => {
    const display_name = '\u200fרחוב הרצל 5\u200f, \u202aTel\tAviv\u202c';
    geocoder.answerWith(
      (_, response) => void response.end(JSON.stringify([{ lat: '32.06', lon: '34.77', display_name }])),
    );
    expect((await search('herzl')).body.results[0].label).to.equal('רחוב הרצל 5, Tel Aviv');
  });

  for (const [title, answer] of [
    ['fails', (response) => void response.writeHead(500).end('[]')],
    ['answers other JSON', (response) => void response.end('{"error":"no"}')],
    ['answers without an end', (response) => void response.end(`["${'x'.repeat(200_000)}"]`)],
  ] as [string, (response: import('node:http').ServerResponse) => void][]) {
    it(`says that the search does not answer if the geocoder ${title}, and asks no other address`, async () => {
      geocoder.answerWith((_, response) => answer(response));
      const { status, body } = await search('penn station');
      expect(status).to.equal(200);
      expect(body.problem).to.include('The address search does not answer');
      expect(geocoder.asked).to.have.length(1);
    });
  }

  it('gives up a geocoder that does not answer in time, or starts to answer and then stops', async () => {
    const url = new URL(`${geocoder.origin}/search?q=secret`);
    for (const start of ['', '[']) {
      geocoder.answerWith((_, response) => void (start && response.write(start)));
      const failed = fetchJson(url, { purpose: 'address search', timeoutMs: 200, maxBytes: 100 });
      expect(await failed.then(() => 'none', String)).to.equal('FetchError: timeout');
    }
  });

  it('each member may search 60 times in 60 s in all browsers together, and then reads when to search again', async () => {
    for (let made = 0; made < 60; made++) expect((await search('a')).status).to.equal(200);
    const { status, body, headers } = await search('a');
    expect(status).to.equal(429);
    expect(body.problem).to.match(/^Too many searches\. Try again in \d+ s\.$/);
    expect(Number(headers.get('retry-after'))).to.be.within(1, 60);
    expect(geocoder.asked).to.have.length(60);
    expect((await search('a', await signedIn(api, visitor.account.email))).status).to.equal(429);
    expect((await search('a', await memberOf(api, visitor.account._id, 'desk'))).status).to.equal(200);
  });

  it('never logs what a person searches, also if the geocoder fails', async () => {
    const { ctx, lines } = withLogLines(api.ctx);
    const server = await serve(ctx, createApp(ctx));
    try {
      const other = visitorOf({ ctx, url: `http://127.0.0.1:${server.port}` }, visitor.account, visitor.cookie);
      await search('Ada Lovelace, Room 1204', other);
      geocoder.answerWith((_, response) => void response.writeHead(500).end());
      await search('Ada Lovelace, Room 1204', other);
    } finally {
      await server.close();
    }
    expect(lines.map(({ msg }) => msg)).to.include.members(['request', 'address search failed']);
    expect(JSON.stringify(lines)).not.to.match(/Lovelace|1204|127\.0\.0\.1/);
  });

  it('the form offers the search only where the operator has set a geocoder', async () => {
    expect((await visitor.get(deskPath)).html)
      .to.include('data-search')
      .and.match(/<input id="to"[^>]*placeholder="Place, address or coordinates"/);
  });
});

describe('the address search of a desk with Photon', () => {
  const geocoder = useGeocoder();
  const { visitor } = useTestDesk(() => ({ GEOCODER_URL: `${geocoder.origin}/api` }));

  it('finds addresses near the default pickup, and sends only parameters that Photon knows', async () => {
    const { html } = await visitor.post(path, { q: 'penn' });
    const label = 'Penn Station, 1 8th Avenue, 10001 New York';
    expect(JSON.parse(html)).to.deep.equal({ results: [{ label, ...pennStation }] });
    expect(Object.fromEntries(geocoder.asked[0]?.url.searchParams ?? [])).to.deep.equal({
      ...{ q: 'penn', limit: '5', lat: '40.7128', lon: '-74.006' },
    });
  });
});

describe('a desk without an address search', () => {
  const { visitor } = useTestDesk();

  it('answers 404 to a search, and does not offer one', async () => {
    expect((await visitor.post(path, { q: 'penn' })).status).to.equal(404);
    expect((await visitor.get(deskPath)).html).not.to.include('data-search');
  });
});
