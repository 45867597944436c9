import fs from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../dev/servers/ports.ts';
import { accountOf } from '../../shared/accounts/account.ts';
import { createDriver } from '../../shared/drivers/manage-drivers.ts';
import { createKey } from '../../shared/keys/manage-keys.ts';
import { clientOf } from '../support/client.ts';
import { person } from '../support/drivers.ts';
import { useFolder } from '../support/folder.ts';
import { useReceiver } from '../support/receiver.ts';
import { testSettings, useTestContext } from '../support/service.ts';
import { serviceProcess } from '../support/service-process.ts';
import { until } from '../support/until.ts';
import { useStarted } from '../support/use-started.ts';

describe('the logs of an API and a worker process at level trace', () => {
  const ctx = useTestContext();
  const folder = useFolder();
  const receiver = useReceiver();
  const service = useStarted(async () => {
    await ctx.redis.flushall();
    const PORT = String(await freePort());
    const env = testSettings({
      PORT,
      LOG_LEVEL: 'trace',
      SIMULATION_SPEED: '50',
      WEBHOOK_LOCAL_TARGETS: receiver.origin,
    });
    const output = { logDir: folder.path };
    const processes = [
      serviceProcess({ name: 'api', script: 'api/main', env, output }),
      serviceProcess({ name: 'worker', script: 'workers/main', env, output }),
    ];
    await Promise.all(processes.map((each) => each.start()));
    const close = () => Promise.all(processes.map((each) => each.stop()));
    return { url: `http://127.0.0.1:${PORT}`, close };
  });

  interface Line {
    msg: string;
    requestId?: string;
    route?: string;
    driverId?: string;
    rideId?: string;
    keyId?: string;
    outcome?: string;
    status?: number | string;
    pool?: string;
    seq?: number;
    durationMs?: number;
  }
  const text = async () =>
    (
      await Promise.all(['api.log', 'worker.log'].map((name) => fs.readFile(path.join(folder.path, name), 'utf8')))
    ).join('');
  const lines = async (): Promise<Line[]> =>
    (await text())
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line));

  /** Signs in to the driver's page. Resolves with the session cookie. */
  async function signInToDrive(key: string): Promise<string> {
    const answer = await fetch(`${service.url}/drive/sign-in`, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'Sec-Fetch-Site': 'same-origin' },
      body: new URLSearchParams({ key }),
    });
    return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  }

  it('logs have one line per request and job, keep the request id up to the delivery, and show no secret', async () => {
    const account = await accountOf('CANARY-mail@rides.example');
    const webhookUrl = `${receiver.origin}/CANARY-path?token=CANARY-query`;
    const key = await createKey(ctx.config, { accountId: account._id, name: 'CANARY-name', mode: 'test' });
    const partner = clientOf(service.url, key.key);
    const requestId = 'given-by-the-partner';
    const created = await partner.post(
      '/rides',
      {
        pickup: { lat: 40.758, lng: -73.9855, address: 'CANARY-pickup' },
        destination: { lat: 40.7128, lng: -74.006, address: 'CANARY-destination' },
        fare: 24.5,
        passenger: { name: 'CANARY-passenger', phone: '+12025550199' },
        notes: 'CANARY-notes',
        webhookUrl,
        reference: 'CANARY-reference',
        metadata: { bed: 'CANARY-metadata' },
        unknown: 'CANARY-field',
      },
      { 'Idempotency-Key': 'CANARY-idempotency', 'User-Agent': 'CANARY-agent', 'X-Request-Id': requestId },
    );
    expect(created.status).to.equal(201);
    const { rideId, trackUrl } = created.body;
    expect(created.headers.get('x-request-id')).to.equal(requestId);
    await partner.get('/rides/CANARY-id?x=CANARY-query');
    await partner.post('/rides', { fare: 'CANARY-fare' });
    await partner.get('/rides?reference=CANARY-reference');
    await partner.get('/events?after=CANARY-cursor');
    await fetch(`${service.url}/v1/rides`, {
      headers: { Authorization: 'Bearer CANARY-key', Cookie: 'session=CANARY' },
    });
    await fetch(`${service.url}/track/${trackUrl.split('/').at(-1)}`);
    await fetch(`${service.url}/dashboard/sign-in`, {
      method: 'POST',
      headers: { 'Sec-Fetch-Site': 'same-origin' },
      body: new URLSearchParams({ email: 'CANARY-person@rides.example' }),
    });
    const driver = await createDriver({ ...person, name: 'CANARY-driver' });
    const cookie = await signInToDrive(driver.key);
    await fetch(`${service.url}/drive/api/me`, { headers: { cookie } });
    await receiver.received(5);
    const ofRide = async () => (await lines()).filter((line) => line.rideId === rideId);
    const deliveries = async () => (await ofRide()).filter(({ msg }) => msg === 'delivery');
    await until(async () => (await deliveries()).length === 5);
    await until(async () => (await lines()).filter(({ msg }) => msg === 'request').length === 10);

    const [creation, ...others] = (await ofRide()).filter(({ msg }) => msg === 'request');
    expect(creation).to.include({ requestId, keyId: key.keyId, status: 201 }).and.have.property('durationMs');
    expect(others).to.deep.equal([]);
    for (const delivery of await deliveries()) {
      expect(delivery).to.include({ requestId, keyId: key.keyId, outcome: 'delivered', pool: 'webhooks' });
      expect(delivery.durationMs).to.be.a('number');
    }
    const steps = (await ofRide()).filter(({ msg, outcome }) => msg === 'job' && outcome === 'done');
    expect(steps).to.have.length(5);
    for (const step of steps) {
      expect(step).to.include({ requestId, keyId: key.keyId, pool: 'simulator' }).and.have.property('durationMs');
    }

    const ofDriver = (await lines()).filter(({ route }) => route?.startsWith('/drive'));
    expect(ofDriver.map(({ route }) => route)).to.have.members(['/drive/sign-in', '/drive/api/me']);
    expect(ofDriver.find(({ route }) => route === '/drive/api/me')).to.include({
      driverId: driver.driverId,
      status: 200,
    });

    const all = await text();
    const secrets = [
      key.key,
      key.signingSecret,
      trackUrl.split('/').at(-1),
      '+12025550199',
      driver.key,
      person.phone,
      cookie.split('=')[1],
      ctx.config.secrets.mongoUrl,
    ];
    for (const secret of ['CANARY', ...secrets]) expect(all).not.to.include(secret);
  });
});
