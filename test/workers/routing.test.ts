import { expect } from 'chai';
import type { Point } from '../../shared/base/great-circle.ts';
import { writeReports } from '../../shared/drivers/position-reports.ts';
import { applyAction } from '../../shared/rides/apply-action.ts';
import { decodeLine, nearestOn, pathAlong } from '../../shared/rides/path.ts';
import { positionAt } from '../../shared/rides/position.ts';
import { withReportedPosition } from '../../shared/rides/read-ride.ts';
import { askIfOffRoute } from '../../shared/rides/reroute.ts';
import { rides } from '../../shared/rides/ride.ts';
import { findRoad } from '../../workers/routing.ts';
import { offerOn, rideIn } from '../support/rides.ts';
import { answerJson, answerWithRoad, cornerRoad, pointsIn, routeAnswer, useRouter } from '../support/router.ts';
import { usePartner, useTestContext } from '../support/service.ts';
import { jobFor, storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { useTestService } from '../support/workers.ts';

const run = { pool: 'routing', token: 'test', stopping: new AbortController().signal } as const;

describe('the road of a leg', () => {
  const router = useRouter();
  const ctx = useTestContext(() => ({ ROUTING_URL: `${router.origin}/route/v1/driving` }));
  beforeEach(() => {
    router.asked.length = 0;
    router.answerWith(answerWithRoad);
  });

  const find = (rideId: string) => findRoad(ctx, { rideId, timer: 'route' }, run);
  let reports = 0;
  /** Each report is 2 s later than the one before. */
  const report = (driverId: string, place: { lat: number; lng: number }) => {
    reports += 1;
    return writeReports(new Map([[driverId, place]]), new Date(Date.now() + 2_000 * reports));
  };
  /** Makes the last question for a route 21 s old. */
  const passTime = (rideId: string) =>
    rides.updateOne({ _id: rideId }, { $set: { 'route.at': new Date(Date.now() - 21_000) } });

  it('an accept and a start set the timer with the write of the change, and add its job beside the next one', async () => {
    const { rideId } = await rideIn(ctx, 'driver_arriving', { mode: 'test' });
    const { timers, rev } = await storedRide(rideId);
    expect(timers.map(({ name }) => name)).to.have.members(['route', 'stall', 'arrive']);
    expect(rev).to.equal(2);
    expect((await jobFor(ctx, 'routing', { rideId, timer: 'route' }))?.data).to.deep.equal({ rideId, timer: 'route' });
    expect((await jobFor(ctx, 'simulator', { rideId, timer: 'arrive' }))?.data).to.include({ rideId });
    await applyAction(ctx, rideId, { action: 'arrive' }, 'anyone');
    expect((await storedRide(rideId)).timers.map(({ name }) => name)).not.to.include('route');
    await applyAction(ctx, rideId, { action: 'start' }, 'anyone');
    expect((await storedRide(rideId)).timers.map(({ name }) => name)).to.include('route');
  });

  it('a test ride gets the road of each leg with one write, and the second run of a job does nothing', async () => {
    const { rideId } = await rideIn(ctx, 'driver_arriving', { mode: 'test' });
    expect(await find(rideId)).to.include({ result: 'done' });
    expect(await find(rideId)).to.deep.equal({ result: 'stale' });
    const { route, leg, rev, pickup, timers } = await storedRide(rideId);
    expect({ rev, timers: timers.map(({ name }) => name) }).to.deep.equal({ rev: 3, timers: ['stall', 'arrive'] });
    expect(route).to.include({ to: 'pickup' });
    expect(Number(route?.at)).to.be.within(Number(leg?.startAt), Number(leg?.endAt));
    const line = decodeLine(route?.road?.line ?? '') ?? [];
    expect(nearestOn(pathAlong(line), pickup).offKm).to.be.below(0.01);
    const asked = pointsIn(`${router.asked[0]?.url.pathname}`);
    expect(asked[0].lat).to.be.closeTo(leg?.from.lat ?? 0, 1e-5);
    await applyAction(ctx, rideId, { action: 'arrive' }, 'anyone');
    await applyAction(ctx, rideId, { action: 'start' }, 'anyone');
    expect(await find(rideId)).to.include({ result: 'done' });
    expect((await storedRide(rideId)).route).to.include({ to: 'destination' });
    expect(router.asked).to.have.length(2);
  });

  it('a test ride that has its road before the accept starts on it, without another question', async () => {
    const { rideId, offerId } = await rideIn(ctx, 'bidding', { mode: 'test' });
    router.answerWith((request, response) => {
      const [from, to] = pointsIn(request.url ?? '');
      const beside = { lat: from.lat + 0.001, lng: from.lng };
      answerJson(routeAnswer(cornerRoad(beside, to)))(request, response);
    });
    expect(await find(rideId)).to.include({ result: 'done' });
    await offerOn(ctx, rideId);
    expect(await find(rideId)).to.deep.equal({ result: 'stale' });
    const { route } = await storedRide(rideId);
    const road = pathAlong(decodeLine(route?.road?.line ?? '') ?? []);
    expect(road.points.length).to.be.above(1);

    await applyAction(ctx, rideId, { action: 'accept', offerId }, 'anyone');
    const ride = await storedRide(rideId);
    expect(ride.timers.map(({ name }) => name)).not.to.include('route');
    const { leg } = ride;
    const times = [0, 0.001, 0.5, 0.999].map(
      (share) => Number(leg?.startAt) + share * (Number(leg?.endAt) - Number(leg?.startAt)),
    );
    for (const time of times) expect(nearestOn(road, positionAt(ride, time) as Point).offKm).to.be.below(0.001);
    expect(positionAt(ride, times[0] as number)).to.include(road.points[0]);
    expect(router.asked).to.have.length(1);
  });

  it('a road that arrives after the leg has ended is not stored, and the next leg is asked for at once', async () => {
    const { rideId } = await rideIn(ctx, 'driver_arriving', { mode: 'test' });
    router.answerWith((request, response) => {
      router.answerWith(answerWithRoad);
      const next = applyAction(ctx, rideId, { action: 'arrive' }, 'anyone');
      void next
        .then(() => applyAction(ctx, rideId, { action: 'start' }, 'anyone'))
        .then(() => answerWithRoad(request, response));
    });
    expect(await find(rideId)).to.include({ result: 'done' });
    const { route, destination } = await storedRide(rideId);
    expect(route?.to).to.equal('destination');
    expect(nearestOn(pathAlong(decodeLine(route?.road?.line ?? '') ?? []), destination).offKm).to.be.below(0.01);
    expect(router.asked).to.have.length(2);
  });

  it('a ride without a road only loses its timer', async () => {
    router.answerWith(answerJson({ code: 'NoRoute' }, 400));
    const { rideId } = await rideIn(ctx, 'driver_arriving', { mode: 'test' });
    expect(await find(rideId)).to.include({ result: 'done' });
    const { route, timers, status } = await storedRide(rideId);
    expect(route).to.have.keys('to', 'at', 'from');
    expect({ status, timers: timers.map(({ name }) => name) }).to.deep.equal({
      ...{ status: 'driver_arriving', timers: ['stall', 'arrive'] },
    });
  });

  it('without a routing server, a ride has no timer and no route', async () => {
    const without = { ...ctx, config: { ...ctx.config, routing: undefined } };
    const { rideId } = await rideIn(without, 'driver_arriving', { mode: 'test' });
    expect((await storedRide(rideId)).timers.map(({ name }) => name)).not.to.include('route');
  });

  describe('of a live ride', () => {
    const start = { lat: 40.7, lng: -74.02 };
    const offRoad = { lat: 40.69, lng: -74.02 };
    const arriving = async () => {
      const { rideId, offer } = await rideIn(ctx, 'driver_arriving', { mode: 'live' });
      await report(offer.driver.driverId, start);
      await find(rideId);
      return { rideId, driverId: offer.driver.driverId };
    };
    const jobOf = (rideId: string) => jobFor(ctx, 'routing', { rideId, timer: 'route' });
    const look = async (rideId: string) => {
      await ctx.queues.routing.obliterate({ force: true });
      await askIfOffRoute(ctx, await withReportedPosition(await storedRide(rideId)));
      return (await jobOf(rideId)) !== undefined;
    };

    it('is asked for from the reported position of the car', async () => {
      const { rideId } = await arriving();
      expect((await storedRide(rideId)).route).to.deep.include({ to: 'pickup', from: start });
      expect(pointsIn(`${router.asked[0]?.url.pathname}`)[0]).to.deep.equal(start);
    });

    it('is asked for again once the car is over 150 m from it, but not within 20 s of the last time', async () => {
      const { rideId, driverId } = await arriving();
      await report(driverId, offRoad);
      expect(await look(rideId), 'within 20 s').to.equal(false);
      expect(await find(rideId)).to.deep.equal({ result: 'stale' });
      await passTime(rideId);
      expect(await look(rideId), 'after 20 s').to.equal(true);
      const [one, two] = await Promise.all([find(rideId), find(rideId)]);
      expect([one, two].map((each) => 'result' in each && each.result).sort()).to.deep.equal(['done', 'stale']);
      expect((await storedRide(rideId)).route).to.deep.include({ to: 'pickup', from: offRoad });
      expect(await look(rideId), 'after the new route').to.equal(false);
    });

    it('is asked for the next leg at once, if that began while the server answered', async () => {
      const { rideId, driverId } = await arriving();
      await passTime(rideId);
      await report(driverId, offRoad);
      router.answerWith((request, response) => {
        router.answerWith(answerWithRoad);
        void applyAction(ctx, rideId, { action: 'arrive' }, 'anyone')
          .then(() => applyAction(ctx, rideId, { action: 'start' }, 'anyone'))
          .then(() => answerWithRoad(request, response));
      });
      expect(await find(rideId)).to.include({ result: 'done' });
      expect((await storedRide(rideId)).route).to.include({ to: 'destination' });
    });

    it('is not asked for again while the car is on it, or after it has arrived', async () => {
      const { rideId, driverId } = await arriving();
      await passTime(rideId);
      await report(driverId, { lat: 40.7005, lng: -74.015 });
      expect(await look(rideId), 'on the road').to.equal(false);
      await report(driverId, offRoad);
      await applyAction(ctx, rideId, { action: 'arrive' }, 'anyone');
      expect(await look(rideId), 'arrived').to.equal(false);
    });

    it('is asked for once the car has moved, if its position was unknown or there was no road', async () => {
      router.answerWith(answerJson({ code: 'NoRoute' }, 400));
      const { rideId, driverId } = await arriving();
      await passTime(rideId);
      expect(await look(rideId), 'at the same place').to.equal(false);
      await report(driverId, offRoad);
      expect(await look(rideId), 'elsewhere').to.equal(true);
      const { rideId: other, offer } = await rideIn(ctx, 'driver_arriving', { mode: 'live' });
      await find(other);
      await report(offer.driver.driverId, start);
      await passTime(other);
      expect(await look(other), 'known at last').to.equal(true);
    });
  });
});

describe('rides with a slow routing server', () => {
  const router = useRouter();
  const service = useTestService(() => ({
    ...{ ROUTING_URL: `${router.origin}/route/v1/driving`, ROUTING_CONCURRENCY: '1', SIMULATION_SPEED: '20' },
  }));
  const partner = usePartner(service, 'test');

  it('a test ride ends on time although the routing server never answers', async () => {
    router.answerWith(() => {});
    const ids = await Promise.all([1, 2, 3].map(async () => (await partner.createRide()).body.rideId as string));
    for (const rideId of ids) await until(async () => (await storedRide(rideId)).status === 'completed');
    for (const rideId of ids) {
      const { route, timers, createdAt, statusAt } = await storedRide(rideId);
      expect(route?.road).to.equal(undefined);
      expect(timers).to.deep.equal([]);
      // At this speed a ride takes 0.75 s. A timer that waited for the server would wait for 2 s.
      expect(statusAt.getTime() - createdAt.getTime()).to.be.below(10_000);
    }
  });
});
