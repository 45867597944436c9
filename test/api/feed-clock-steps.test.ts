import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { isOutageOfMongo } from '../../shared/base/mongo/outage.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { rides } from '../../shared/rides/ride.ts';
import type { Client } from '../support/client.ts';
import type { ShownEvent } from '../support/feed.ts';
import { newRide, offerOn } from '../support/rides.ts';
import { useTestApi } from '../support/service.ts';
import { describeOnLinux, startSteppableMongo } from '../support/steppable-mongo.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-started.ts';

const hourMs = 3_600_000;

describeOnLinux('event feed while the clock of MongoDB changes', function () {
  this.timeout(120_000);

  const mongo = useStarted(startSteppableMongo);
  const api = useTestApi(() => ({ MONGO_URL: mongo.url, BIDDING_TIMEOUT_MS: `${4 * hourMs}` }));

  it('clock changes of MongoDB never make the feed skip, repeat or reorder an event', async () => {
    const partner = await api.partner('live');
    const [asking, waiting]: [string[], string[]] = [[], []];
    let isOver = false;
    const readers = [readAlong(partner, 0, asking, () => isOver), readAlong(partner, 2, waiting, () => isOver)];
    let written: string[][] = [];
    const allShown = async () => {
      written = await placesOf(partner.keyId);
      const count = written.flat().length;
      await until(async () => asking.length >= count && waiting.length >= count, 50);
    };
    await tripOf(partner.keyId);
    await allShown();
    for (const steps of [
      // Each row is one sequence of clock changes: back by a minute; ahead by an hour and back; back and forth several
      // times.
      [-60_000],
      [0, hourMs, 0],
      [5_000, 0, 9_000, -3_000, hourMs, 0, -hourMs, 0],
    ]) {
      for (const aheadMs of steps) {
        const writing = tripOf(partner.keyId);
        await mongo.setClock(aheadMs);
        await writing;
        await tripOf(partner.keyId);
        await setTimeout(150);
      }
      // Waits until both readers have these events, before the clock changes again.
      await allShown();
    }
    isOver = true;
    await Promise.all(readers);
    expect(written.length).to.be.at.least(4);
    for (const shown of [asking, waiting]) {
      expect([...shown].sort()).to.deep.equal(written.flat().sort());
      for (const places of written) expect(shown.filter((place) => places.includes(place))).to.deep.equal(places);
    }
  });

  it('the feed shows an event within seconds although its time is an hour ahead of the clock', async () => {
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

  /** Runs a ride from its creation to its end, or until a clock change aborts one of MongoDB's operations. */
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

  /** The places of each ride's events in the feed, in the order in which the events were written. */
  async function placesOf(keyId: string): Promise<string[][]> {
    const all = await rides.find({ keyId }).toArray();
    return all.map(({ _id, events }) => events.map(({ seq }) => `${_id} ${seq}`));
  }
  const trip = [{ action: 'arrive' }, { action: 'start' }, { action: 'complete' }] as const;

  /** Reads the feed page by page and adds the places of its events to `shown`. Reads once more after the end. */
  async function readAlong(reader: Client, waitSeconds: number, shown: string[], isOver: () => boolean): Promise<void> {
    let cursor = '';
    for (let isLast = false; ; isLast = isOver()) {
      const { status, body } = await reader.get(`/events?limit=3&waitSeconds=${waitSeconds}&after=${cursor}`);
      // Retries after a 503, because a clock change ahead can abort MongoDB's operations.
      if (status === 503) continue;
      expect(status).to.equal(200);
      shown.push(...body.events.map(({ rideId, seq }: ShownEvent) => `${rideId} ${seq}`));
      cursor = body.cursor ?? '';
      if (isLast) return;
      if (!waitSeconds) await setTimeout(100);
    }
  }
});
