import { expect } from 'chai';
import { SessionModel } from '../../../shared/accounts/session.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { rides } from '../../../shared/rides/ride.ts';
import type { RideNews } from '../../../web/dashboard/ride-news.ts';
import { signedIn, useVisitor } from '../../support/dashboard.ts';
import { type EventStream, endOf, nextOf, openEventStream, useEventStreams } from '../../support/event-stream.ts';
import { plansOf } from '../../support/plans.ts';
import { offerOn } from '../../support/rides.ts';
import { startTestApi, useTestApi } from '../../support/service.ts';

describe("the stream of a ride's page", () => {
  const api = useTestApi();
  const visitor = useVisitor(api);
  const open = useEventStreams();

  const testRide = () => visitor.rideIn('bidding', { mode: 'test', scenario: 'no_offers' });
  const follow = (path: string) => open(`${api.url}${path}/events`, { cookie: visitor.cookie });
  const nextWith: (stream: EventStream, isWanted: (news: RideNews) => boolean) => Promise<RideNews> = nextOf;
  const newsOnPage = async (path: string): Promise<RideNews> => {
    const { html } = await visitor.get(path);
    const [, json = ''] = /data-news="([^"]*)"/.exec(html) ?? [];
    return JSON.parse(json.replaceAll('&quot;', '"'));
  };

  it('a new version follows each change of a live ride, and the page then has that version', async () => {
    const { rideId, path } = await visitor.rideIn('bidding');
    const stream = await follow(path);
    const first: RideNews = await stream.next();
    expect(first.version).to.equal((await newsOnPage(path)).version);
    expect(first.map).to.include({ status: 'bidding' });
    const { offerId } = await offerOn(api.ctx, rideId);
    const offered = await nextWith(stream, ({ version }) => version !== first.version);
    await applyAction(api.ctx, rideId, { action: 'accept', offerId }, 'anyone');
    const accepted = await nextWith(stream, ({ map }) => map?.status === 'driver_arriving');
    expect(accepted.version).not.to.equal(offered.version);
    expect(accepted.version).to.equal((await newsOnPage(path)).version);
  });

  it('the stream repeats the position of a moving car', async () => {
    const { rideId, path, offerId } = await testRide();
    await applyAction(api.ctx, rideId, { action: 'accept', offerId }, 'anyone');
    const stream = await follow(path);
    const [one, two]: RideNews[] = [await stream.next(), await stream.next()];
    expect(two?.map?.position?.at).to.be.above(one?.map?.position?.at ?? 0);
    expect(two?.version).to.equal(one?.version);
  });

  it('the stream ends when the ride has ended and its events are settled, and then answers 204', async () => {
    const { rideId, path } = await visitor.rideIn('bidding');
    const stream = await follow(path);
    await applyAction(api.ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
    expect(await nextWith(stream, ({ map }) => map?.status === 'cancelled')).to.include({ isOver: false });
    await rides.updateOne({ _id: rideId }, { $set: { settledSeq: 2, unsettled: 0 } });
    expect(await nextWith(stream, ({ isOver }) => isOver)).to.include({ isOver: true });
    expect(await stream.next()).to.equal(null);
    expect((await follow(path)).status).to.equal(204);
    expect(await newsOnPage(path)).to.include({ isOver: true });
  });

  it('the news of a ride show no map once the link of the map has expired', async () => {
    const { rideId, path } = await visitor.rideIn('bidding');
    await applyAction(api.ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
    await rides.updateOne({ _id: rideId }, { $set: { statusAt: new Date(Date.now() - 24 * 3_600_000) } });
    expect(await newsOnPage(path)).not.to.have.property('map');
    expect((await visitor.get(path)).html).not.to.include('id="ride-map"');
  });

  it('a stream ends when its session ends, but streams of other sessions continue', async () => {
    const { rideId, path } = await visitor.rideIn('bidding');
    const stream = await follow(path);
    await SessionModel.deleteMany({ accountId: visitor.account._id });
    Object.assign(visitor, await signedIn(api, visitor.account.email));
    const other = await follow(path);
    await endOf(stream);
    await applyAction(api.ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
    expect(await nextWith(other, ({ map }) => map?.status === 'cancelled')).to.include({ isOver: false });
  });

  it('the page of the test console follows a test ride with the same stream', async () => {
    const { rideId, path } = await testRide();
    const { version }: RideNews = await (await follow(path)).next();
    expect(await (await follow(`/dashboard/console/${rideId}`)).next()).to.include({ version });
    expect(await newsOnPage(`/dashboard/console/${rideId}`)).to.include({ version });
  });

  it('reading the news of a ride uses the index of ids', async () => {
    const { path } = await visitor.rideIn('bidding');
    const plans = await plansOf(() => visitor.get(`${path}/state`));
    expect(plans.filter(({ stages }) => stages.includes('COLLSCAN'))).to.deep.equal([]);
  });

  it('a stream beyond the limit of its account answers 429, and the others end when the API stops, without a delay', async () => {
    const other = await startTestApi({ MAX_STREAMS_PER_CLIENT: '1' });
    const { cookie, rideIn } = await signedIn(other);
    const { path } = await rideIn('bidding');
    const [stream, refused] = [1, 2].map(() => openEventStream(`${other.url}${path}/events`, { cookie }));
    expect([(await stream)?.status, (await refused)?.status]).to.have.members([200, 429]);
    await other.close();
    for (const one of [stream, refused]) await endOf((await one) as EventStream);
  });
});
