import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { useTestApi } from '../../support/service.ts';
import { useStarted } from '../../support/use-started.ts';

const content = Buffer.from(Array.from({ length: 1_000 }, (_, index) => index % 256));

describe('the file of tiles', () => {
  const folder = useStarted(async () => {
    const created = await mkdtemp(path.join(tmpdir(), 'rides-tiles-'));
    await writeFile(path.join(created, 'region.pmtiles'), content);
    return { path: created, close: () => rm(created, { recursive: true }) };
  });
  const api = useTestApi(() => ({ TILE_URL: path.join(folder.path, 'region.pmtiles') }));
  const get = (headers: Record<string, string> = {}, init: RequestInit = {}) =>
    fetch(`${api.url}/tiles/region.pmtiles`, { headers, ...init });
  const bytes = async (answer: Response) => Buffer.from(await answer.arrayBuffer());

  const ranges: [range: string, start: number, end: number][] = [
    ['bytes=0-126', 0, 126],
    ['bytes=0-16383', 0, 999],
    ['bytes=990-', 990, 999],
    ['bytes=-5', 995, 999],
    ['bytes=-5000', 0, 999],
    ['bytes=999-999', 999, 999],
  ];
  for (const [range, start, end] of ranges) {
    it(`is served from byte ${start} to ${end} for ${range}`, async () => {
      const answer = await get({ Range: range });
      expect(answer.status).to.equal(206);
      expect(answer.headers.get('content-range')).to.equal(`bytes ${start}-${end}/1000`);
      expect(await bytes(answer)).to.deep.equal(content.subarray(start, end + 1));
    });
  }

  for (const range of ['bytes=1000-', 'bytes=5-4', 'bytes=-0', 'bytes=-', 'bytes=0-1,5-6', 'bytes=x-1', 'lines=0-1']) {
    it(`answers 416 for the range ${range}`, async () => {
      const answer = await get({ Range: range });
      expect([answer.status, answer.headers.get('content-range')]).to.deep.equal([416, 'bytes */1000']);
    });
  }

  it('is served whole, with an ETag that spares a second transfer and changes with the file', async () => {
    const whole = await get();
    expect(await bytes(whole)).to.deep.equal(content);
    expect(whole.headers.get('accept-ranges')).to.equal('bytes');
    const etag = whole.headers.get('etag') ?? '';
    expect(etag).to.match(/^"[\w-]+"$/);
    const head = await get({}, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).to.deep.equal([200, '1000']);
    expect((await get({ 'If-None-Match': etag, 'Cache-Control': 'max-age=0' })).status).to.equal(304);
    expect((await get({ Range: 'bytes=0-1', 'If-Range': etag })).status).to.equal(206);
    expect((await get({ Range: 'bytes=0-1', 'If-Range': '"old"' })).status).to.equal(200);
    await writeFile(path.join(folder.path, 'region.pmtiles'), content.subarray(0, 900));
    expect((await get({ Range: 'bytes=0-1' })).headers.get('etag')).to.not.equal(etag);
    await writeFile(path.join(folder.path, 'region.pmtiles'), content);
  });

  it('is the only file that can be read, and a missing one is a 404', async () => {
    await writeFile(path.join(folder.path, 'secret.pmtiles'), 'secret');
    for (const name of ['secret.pmtiles', '..%2fregion.pmtiles', 'region.pmtiles%00', '', 'region.pmtiles/'])
      expect((await fetch(`${api.url}/tiles/${name}`)).status, name).to.equal(404);
    await rm(path.join(folder.path, 'region.pmtiles'));
    expect((await get()).status).to.equal(404);
    await writeFile(path.join(folder.path, 'region.pmtiles'), content);
  });
});

describe('pages with a map', () => {
  const link = '<a href="https://www.openstreetmap.org/copyright" target="_blank" rel="noopener">';
  const cases: [name: string, settings: Record<string, string>, shown: Record<string, string | undefined>][] = [
    ['no tiles', {}, { images: '', scripts: '', referrer: 'same-origin', attribution: undefined }],
    [
      'tiles of images',
      { TILE_URL: 'https://tiles.example/{z}/{x}/{y}.png', TILE_ATTRIBUTION: 'Example, © OpenStreetMap' },
      {
        images: ' https://tiles.example',
        scripts: '',
        referrer: 'strict-origin',
        attribution: `Example, ${link}© OpenStreetMap</a>`,
      },
    ],
    [
      'tiles of the API',
      { TILE_URL: '/nowhere/region.pmtiles' },
      { images: '', scripts: '', referrer: 'same-origin', attribution: `${link}© OpenStreetMap contributors</a>` },
    ],
    [
      'tiles of a bucket',
      { TILE_URL: 'https://bucket.example/a/region.pmtiles', TILE_ATTRIBUTION: '<a href="https://x.example">X</a>' },
      {
        images: '',
        scripts: ' https://bucket.example',
        referrer: 'same-origin',
        attribution: '<a href="https://x.example">X</a>',
      },
    ],
  ];
  for (const [name, settings, { attribution, referrer, ...origins }] of cases) {
    describe(`with ${name}`, () => {
      const api = useTestApi(settings);

      it('permit only the origin of the tiles, send it a referrer if it needs one, and name the source with a link', async () => {
        const partner = await api.partner('test');
        const { body } = await partner.createRide();
        const paths = ['/drive', '/dashboard', new URL(body.trackUrl).pathname];
        const answers = await Promise.all(paths.map((path) => fetch(api.url + path, { redirect: 'manual' })));
        for (const [index, { headers }] of answers.entries()) {
          const policy = headers.get('content-security-policy') ?? '';
          expect(policy).to.include(`img-src 'self' data:${origins.images};`);
          expect(policy).to.include(`connect-src 'self'${origins.scripts};`);
          expect(policy).not.to.include('unsafe');
          // The address of a live map is a secret, so it sends its origin at most.
          const sent = index === 2 ? 'strict-origin' : referrer;
          expect(headers.get('referrer-policy'), paths[index]).to.equal(sent);
        }
        const [, shown] = /data-attribution="([^"]*)"/.exec((await answers[2]?.text()) ?? '') ?? [];
        expect(shown?.replaceAll('&quot;', '"').replaceAll('&lt;', '<')).to.equal(attribution);
      });
    });
  }
});
