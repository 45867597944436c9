import { createRequire } from 'node:module';
import { expect } from 'chai';
import { pingMongo } from '../../../shared/base/mongo/connect-mongo.ts';
import { type OpsServer, startOpsServer } from '../../../shared/process/ops/ops-server.ts';
import { scraper } from '../../../shared/process/ops/scrape.ts';
import { sharedRead } from '../../../shared/process/ops/shared-read.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { database, failOnce } from '../../support/failing-mongo.ts';
import { useReceiver } from '../../support/receiver.ts';
import { rideIn } from '../../support/rides.ts';
import { useTestContext } from '../../support/service.ts';
import { useTestService } from '../../support/workers.ts';

const figureIn = (text: string, name: string) => Number(new RegExp(`^${name} (.+)$`, 'm').exec(text)?.[1]);

describe('metrics of a process', () => {
  const receiver = useReceiver();
  const service = useTestService(() => ({
    SIMULATION_SPEED: '50',
    WEBHOOK_LOCAL_TARGETS: receiver.origin,
    OPS_PORT: '0',
  }));
  let ops: OpsServer | null;
  before(async () => {
    ops = await startOpsServer(service.ctx, { processName: 'test', checks: { mongo: pingMongo } });
  });
  after(() => ops?.close());

  const scrape = async () => (await fetch(`http://127.0.0.1:${ops?.port}/metrics`)).text();

  it('metrics count a complete ride, and contain no id, no URL and no text from a client', async () => {
    const partner = await service.partner('test', receiver.url);
    const { body } = await partner.createRide();
    await receiver.received(5);
    await partner.get(`/rides/${body.rideId}`);
    await partner.get('/CANARY-path?token=CANARY-query');
    const text = await scrape();
    for (const [name, labels] of [
      ['rides_http_requests_total', 'method="POST",route="/v1/rides",status="201"'],
      ['rides_http_request_duration_seconds_count', 'method="GET",route="/v1/rides/:rideId",mode="test"'],
      ['rides_http_requests_total', 'method="GET",route="none",status="404"'],
      ['rides_status_changes_total', 'status="bidding",mode="test"'],
      ['rides_status_changes_total', 'status="completed",mode="test"'],
      ['rides_first_offer_seconds_count', 'mode="test"'],
      ['rides_timer_lag_seconds_count', 'timer="arrive"'],
      ['rides_jobs_total', 'pool="simulator",result="done"'],
      ['rides_deliveries_total', 'kind="event",outcome="delivered",pool="webhooks"'],
      ['rides_event_to_first_byte_seconds_count', 'pool="webhooks"'],
    ]) {
      expect(figureIn(text, `${name}{${labels}}`), `${name}{${labels}}`).to.be.greaterThan(0);
    }
    for (const canary of ['CANARY', body.rideId, partner.keyId, receiver.origin, 'http:', 'ride_']) {
      expect(text).not.to.include(canary);
    }
    // The word boundary excludes the reason `secrets_key_missing`, which is not an id.
    expect(text).not.to.match(/\bkey_/);
  });

  it('metrics do not load OpenTelemetry', () => {
    const loaded = Object.keys(createRequire(import.meta.url).cache);
    expect(loaded.filter((file) => file.includes('prom-client'))).not.to.deep.equal([]);
    expect(loaded.filter((file) => file.includes('@opentelemetry'))).to.deep.equal([]);
  });
});

describe('metrics of state that all processes share', () => {
  const ctx = useTestContext();

  it('metrics show how long the oldest event and timer of a live ride have waited, even after Redis is flushed', async () => {
    const waits = { live: 3_600_000, test: 36_000_000 };
    for (const mode of ['live', 'test'] as const) {
      const { rideId } = await rideIn(ctx, 'bidding', { mode });
      const since = new Date(ctx.now() - waits[mode]);
      await rides.updateOne({ _id: rideId }, { $set: { unsettledSince: since, nextDueAt: since } });
    }
    await ctx.redis.flushall();
    const text = await scraper(ctx)();
    await rides.deleteMany({ unsettledSince: { $lte: new Date(ctx.now() - waits.live) } });
    expect(figureIn(text, 'rides_oldest_unsettled_event_seconds')).to.be.within(3_600, 7_200);
    expect(figureIn(text, 'rides_oldest_overdue_timer_seconds')).to.be.within(3_600, 7_200);
    expect(figureIn(text, 'rides_queue_jobs{queue="webhooks",state="wait"}')).to.equal(0);
  });

  it('metrics show the time of the last backup, and nothing if there has been none', async () => {
    const backups = database().collection<{ _id: string; at: Date }>('operations');
    await backups.deleteOne({ _id: 'backup' });
    expect(await scraper(ctx)()).not.to.match(/^rides_backup_last_success_timestamp_seconds/m);
    await backups.insertOne({ _id: 'backup', at: new Date(1_700_000_000_000) });
    const text = await scraper(ctx)();
    await backups.deleteOne({ _id: 'backup' });
    expect(figureIn(text, 'rides_backup_last_success_timestamp_seconds')).to.equal(1_700_000_000);
  });

  it('metrics show the number of failing keys, the memory of Redis, and both servers as up', async () => {
    const text = await scraper(ctx)();
    expect(figureIn(text, 'rides_keys_failing')).to.be.at.least(0);
    expect(figureIn(text, 'rides_redis_memory_used_ratio')).to.be.within(1e-6, 1);
    for (const dependency of ['mongo', 'redis']) {
      expect(figureIn(text, `rides_dependency_up{dependency="${dependency}"}`)).to.equal(1);
    }
    expect(text).to.match(/^rides_mongo_disk_used_ratio (NaN|Nan|[01][.\d]*)$/m);
  });

  it('metrics show the backlog as unknown, not as 0, when MongoDB does not answer', async () => {
    failOnce(database(), 'aggregate', new Error('away'));
    const text = await scraper(ctx)();
    expect(text).to.match(/^rides_oldest_unsettled_event_seconds NaN$/im);
    expect(text).to.match(/^rides_dependency_up\{dependency="redis"\} 1$/m);
  });
});

describe('sharedRead', () => {
  it('sharedRead reads once for all concurrent callers and within the interval', async () => {
    let reads = 0;
    const ask = sharedRead(async () => ++reads, { everyMs: 3_600_000, limitMs: 60_000 });
    expect(await Promise.all([ask(), ask(), ask()])).to.deep.equal([1, 1, 1]);
    expect(await ask()).to.equal(1);
  });

  it('sharedRead reads again when the interval has passed', async () => {
    let reads = 0;
    const ask = sharedRead(async () => ++reads, { everyMs: 0, limitMs: 60_000 });
    expect([await ask(), await ask()]).to.deep.equal([1, 2]);
  });

  it('sharedRead returns null after the time limit, and starts no second read while one is running', async () => {
    let reads = 0;
    const ask = sharedRead(
      () => {
        reads += 1;
        return new Promise(() => {});
      },
      { everyMs: 0, limitMs: 1 },
    );
    expect([await ask(), await ask(), await ask()]).to.deep.equal([null, null, null]);
    expect(reads).to.equal(1);
  });

  it('sharedRead returns null if the read fails', async () => {
    const ask = sharedRead(() => Promise.reject(new Error('away')), { everyMs: 0, limitMs: 60_000 });
    expect(await ask()).to.equal(null);
  });
});
