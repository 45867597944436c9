import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { isOutageOfMongo } from '../../shared/base/mongo/outage.ts';
import { applyAction } from '../../shared/rides/change-ride.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Client } from '../support/client.ts';
import type { ShownEvent } from '../support/feed.ts';
import { newRide, offerOn } from '../support/rides.ts';
import { startTestApi, type TestApi } from '../support/service.ts';
import { describeOnLinux, type SteppableMongo, startSteppableMongo } from '../support/steppable-mongo.ts';

const hourMs = 3_600_000;

describeOnLinux('the event feed of a key, when the clock of MongoDB is set', function () {
  this.timeout(120_000);

  let mongo: SteppableMongo;
  let api: TestApi;
  before(async () => {
    mongo = await startSteppableMongo();
    api = await startTestApi({ MONGO_URL: mongo.url, BIDDING_TIMEOUT_MS: `${4 * hourMs}` });
  });
  after(async () => {
    await api?.close();
    await mongo?.close();
  });
  beforeEach(() => mongo.setClock(0));

  for (const [title, steps] of [
    ['back by 8 s', [-8_000]],
    ['back by a minute, and ahead', [-60_000, 0]],
    ['back by an hour', [-hourMs]],
    ['ahead by an hour, and back', [hourMs, 0]],
    ['ahead and back every 150 ms', [5_000, 0, 9_000, -3_000, hourMs, 0, -hourMs, 0]],
  ] as const) {
    it(`shows every event once and in order to readers and to a reader who waits: ${title}`, async () => {
      const partner = await api.partner('live');
      let count = Number.POSITIVE_INFINITY;
      const readers = [0, 2].map((waitSeconds) => readAlong(partner, waitSeconds, () => count));
      await tripOf(partner.keyId);
      // As long as it takes until events are shown, so that the cursors are past them.
      await setTimeout(3_600);
      for (const aheadMs of steps) {
        const writing = tripOf(partner.keyId);
        await mongo.setClock(aheadMs);
        await writing;
        await tripOf(partner.keyId);
        await setTimeout(150);
      }
      const written = await placesOf(partner.keyId);
      expect(written.length).to.be.at.least(2);
      count = written.flat().length;
      for (const shown of await Promise.all(readers)) {
        expect([...shown].sort()).to.deep.equal(written.flat().sort());
        for (const places of written) expect(shown.filter((place) => places.includes(place))).to.deep.equal(places);
      }
    });
  }

  it('shows an event within seconds whose time is an hour ahead of the clock', async () => {
    const partner = await api.partner('live');
    await mongo.setClock(hourMs);
    await tripOf(partner.keyId);
    await rides.updateMany({ keyId: partner.keyId }, [
      {
        $set: {
          events: {
            $map: { input: '$events', in: { $mergeObjects: ['$$this', { at: { $add: ['$$this.at', hourMs] } }] } },
          },
        },
      },
    ]);
    let cursor = '';
    const shown: ShownEvent[] = [];
    while (shown.length < 5) {
      const { status, body } = await partner.get(`/events?waitSeconds=1&after=${cursor}`);
      if (status === 503) continue;
      shown.push(...body.events);
      cursor = body.cursor ?? '';
    }
  });

  /** A ride from its creation to its end, or until a step of the clock ends one of MongoDB's operations. */
  async function tripOf(keyId: string): Promise<void> {
    try {
      const rideId = await newRide(api.ctx, { keyId });
      const { offerId } = await offerOn(api.ctx, rideId);
      for (const command of [{ action: 'accept', offerId } as const, ...trip]) {
        await applyAction(api.ctx, rideId, command, 'anyone');
      }
    } catch (error) {
      if (!isOutageOfMongo(error)) throw error;
    }
  }

  /** The places of each ride's events, as they were written. */
  async function placesOf(keyId: string): Promise<string[][]> {
    const all = await rides.find({ keyId }).toArray();
    return all.map(({ _id, events }) => events.map(({ seq }) => `${_id} ${seq}`));
  }
  const trip = [{ action: 'arrive' }, { action: 'start' }, { action: 'complete' }] as const;

  /** Reads on from each cursor until `count` events are shown, and once more. */
  async function readAlong(reader: Client, waitSeconds: number, count: () => number): Promise<string[]> {
    const shown: string[] = [];
    let cursor = '';
    for (let last = false; ; last = shown.length >= count()) {
      const { status, body } = await reader.get(`/events?limit=3&waitSeconds=${waitSeconds}&after=${cursor}`);
      // A step ahead can end what MongoDB is doing.
      if (status === 503) continue;
      expect(status).to.equal(200);
      shown.push(...body.events.map(({ rideId, seq }: ShownEvent) => `${rideId} ${seq}`));
      cursor = body.cursor ?? '';
      if (last) return shown;
      if (!waitSeconds) await setTimeout(100);
    }
  }
});
