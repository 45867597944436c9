import { expect } from 'chai';
import { rides } from '../../shared/rides/ride.ts';
import { openDue, startOpener } from '../../workers/periodic/opener.ts';
import { somewhere } from '../support/drivers.ts';
import { newRide } from '../support/rides.ts';
import { useTestContext } from '../support/service.ts';
import { describeOnLinux, startSteppableMongo } from '../support/steppable-mongo.ts';
import { storedRide } from '../support/stored-rides.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-started.ts';

const hourMs = 3_600_000;

describeOnLinux('opening rides for later while the clock of MongoDB changes', function () {
  this.timeout(120_000);

  const mongo = useStarted(startSteppableMongo);
  const ctx = useTestContext(() => ({ MONGO_URL: mongo.url }));

  it('rides open by the clock of MongoDB, once, also after it was set ahead and back and Redis was emptied', async () => {
    const now = Date.now();
    const due = await newRide(ctx, { pickup: somewhere(), pickupAt: new Date(now + hourMs) });
    const waiting = await newRide(ctx, { pickup: somewhere(), pickupAt: new Date(now + 30 * hourMs) });
    expect(await openDue(ctx)).to.equal(0);
    await mongo.setClock(-hourMs);
    expect(await openDue(ctx)).to.equal(0);
    const opener = startOpener(ctx);
    try {
      await ctx.redis.flushall();
      await mongo.setClock(hourMs);
      await until(async () => (await storedRide(due)).openedAt !== undefined);
    } finally {
      await opener.stop();
    }
    await mongo.setClock(0);
    expect(await openDue(ctx)).to.equal(0);
    const { openedAt, biddingEndsAt, rev } = await storedRide(due);
    expect(rev).to.equal(1);
    expect(Number(openedAt)).to.be.above(now + hourMs / 2);
    expect(Number(biddingEndsAt) - Number(openedAt)).to.equal(600_000);
    expect(await rides.countDocuments({ _id: waiting, openedAt: { $exists: true } })).to.equal(0);
  });
});
