import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { poolNames } from '../../../shared/base/queues.ts';
import { rides } from '../../../shared/rides/ride.ts';
import { descriptorLimit, withinDescriptorLimit } from '../../../workers/webhooks/descriptor-limit.ts';
import { newKey, withTargets } from '../../support/deliveries.ts';
import { useFolder } from '../../support/folder.ts';
import { type LogLine, withLogLines } from '../../support/log-lines.ts';
import { startReceiver } from '../../support/receiver.ts';
import { rideWithEvents } from '../../support/rides.ts';
import { testSettings, useTestContext } from '../../support/service.ts';
import { type ServiceProcess, serviceProcess } from '../../support/service-process.ts';
import { storedRide } from '../../support/stored-rides.ts';
import { until } from '../../support/until.ts';

describe('concurrency of the delivery pools', () => {
  const ctx = useTestContext();

  const wanted = {
    bidding: 50,
    simulator: 50,
    dispatch: 50,
    webhooks: 500,
    'webhooks-slow': 500,
    mail: 10,
    messages: 50,
    routing: 8,
  };

  it('the configured concurrency stays if the limit of open files allows it, and nothing is logged', () => {
    const logged = withLogLines(ctx);
    for (const limit of [20_000, Infinity]) {
      expect(withinDescriptorLimit(poolNames, wanted, logged.ctx.log, limit)).to.deep.equal(wanted);
    }
    expect(withinDescriptorLimit(['bidding'], wanted, logged.ctx.log, 64)).to.deep.equal(wanted);
    expect(logged.lines).to.have.length(0);
  });

  it('the concurrency of both pools together is kept below the limit of open files, with a warning', () => {
    for (const limit of [64, 256, 1_024, 2_000]) {
      const logged = withLogLines(ctx);
      const allowed = withinDescriptorLimit(poolNames, wanted, logged.ctx.log, limit);
      expect(allowed.webhooks + allowed['webhooks-slow']).to.be.within(2, limit / 2);
      expect(allowed).to.include({ bidding: 50, simulator: 50 });
      expect(logged.lines).to.have.length(1);
      expect(logged.lines[0]).to.include({ limit, wanted: 1_000 });
    }
  });

  it('each pool keeps a concurrency of at least one, in proportion to its setting', () => {
    const { log } = withLogLines(ctx).ctx;
    expect(withinDescriptorLimit(poolNames, { ...wanted, webhooks: 1 }, log, 64)).to.include({ webhooks: 1 });
    const allowed = withinDescriptorLimit(poolNames, { ...wanted, webhooks: 1_500 }, log, 1_024);
    expect(allowed.webhooks / allowed['webhooks-slow']).to.be.within(2.9, 3.1);
  });

  (process.platform === 'linux' ? it : it.skip)('descriptorLimit returns the limit of open files on Linux', () => {
    expect(descriptorLimit()).to.equal(Number(execFileSync('bash', ['-c', 'ulimit -n'], { encoding: 'utf8' })));
  });
});

(process.platform === 'linux' ? describe : describe.skip)('a worker process with few file descriptors', () => {
  // With a lower limit, Node itself could not start.
  const limit = 96;
  const ctx = useTestContext();
  const folder = useFolder();
  let worker: ServiceProcess | undefined;

  before(() => ctx.redis.flushall());
  afterEach(() => worker?.kill());

  const startWorker = async (localTarget: string) => {
    const env = testSettings({ WEBHOOK_LOCAL_TARGETS: localTarget, LOG_LEVEL: 'info' });
    const [script, args] = ['workers/main', ['webhooks', 'webhooks-slow']] as const;
    worker = serviceProcess({
      name: 'worker',
      script,
      args: [...args],
      env,
      output: { logDir: folder.path },
      openFiles: limit,
    });
    await worker.start();
  };
  const logLines = (): LogLine[] => {
    const whole = readFileSync(path.join(folder.path, 'worker.log'), 'utf8').split('\n').slice(0, -1);
    return whole.map((line) => JSON.parse(line));
  };

  const openDescriptors = () => readdirSync(`/proc/${worker?.pid}/fd`).length;
  const setLimit = (to: number) => execFileSync('prlimit', ['--pid', String(worker?.pid), `--nofile=${to}:${limit}`]);

  it('a worker with few descriptors delivers more events than it has descriptors, none as failed', async () => {
    let inFlight = 0;
    let most = 0;
    const receiver = await startReceiver({
      answer: (response) => {
        most = Math.max(most, ++inFlight);
        setTimeout(() => response.end(), 50);
        response.on('close', () => inFlight--);
      },
    });
    const target = withTargets(ctx, receiver.origin);
    const keys = await Promise.all(Array.from({ length: 20 }, () => newKey(target, receiver.url)));
    const makeRides = async (count: number) => {
      const made = Array.from({ length: count }, (_, index) => {
        const key = keys[index % keys.length];
        return key ? rideWithEvents(target, key, 1) : '';
      });
      return Promise.all(made);
    };
    const allDelivered = async (rideIds: string[]) => {
      await until(async () => (await rides.countDocuments({ _id: { $in: rideIds }, unsettled: { $gt: 0 } })) === 0);
      for (const rideId of rideIds) {
        expect((await storedRide(rideId)).events[0]?.delivery).to.include({ outcome: 'delivered' });
      }
    };

    const waiting = await makeRides(limit + 4);
    await startWorker(receiver.origin);
    await allDelivered(waiting);
    expect(logLines().find(({ msg }) => msg.startsWith('the limit of open files'))).to.include({
      limit,
      wanted: 1_000,
    });
    expect(most).to.be.within(1, limit / 2);

    // Waits until the worker is idle, and then lowers its limit until it runs out of descriptors. Each look lowers the
    // limit again, because the worker closes idle connections.
    await until(async () => inFlight === 0);
    const others: string[] = [];
    await until(async () => {
      setLimit(openDescriptors() + 2);
      others.push(...(await makeRides(20)));
      return logLines().some(({ reason }) => reason === 'EMFILE');
    });
    setLimit(limit);
    await allDelivered(others);
    expect(receiver.receipts.map(({ body }) => body.rideId)).to.have.members([...waiting, ...others]);
    await receiver.close();
  });
});
