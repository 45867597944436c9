import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { freePort } from '../../dev/servers/ports.ts';
import { accountOf } from '../../shared/accounts/account.ts';
import { createKey, type NewKey } from '../../shared/keys/manage-keys.ts';
import { type Client, clientOf } from '../support/client.ts';
import { useFolder } from '../support/folder.ts';
import { type HttpOptions, type Receiver, startReceiver } from '../support/receiver.ts';
import { testSettings, useTestContext } from '../support/service.ts';
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts';
import { type CollectedSpan, spansIn } from '../support/spans.ts';

const hex = (bytes: number) => randomBytes(bytes).toString('hex');

describe('the traces of an API process and workers', () => {
  const ctx = useTestContext();
  const folder = useFolder();
  const receivers: Receiver[] = [];
  const processes: ServiceProcess[] = [];
  beforeEach(() => ctx.redis.flushall());
  afterEach(async () => {
    await Promise.all(processes.splice(0).map((each) => each.kill()));
    await Promise.all(receivers.splice(0).map((each) => each.close()));
  });

  async function receive(options?: HttpOptions): Promise<Receiver> {
    const receiver = await startReceiver(options);
    receivers.push(receiver);
    return receiver;
  }

  interface Running {
    url: string;
    partner: Client & NewKey;
    webhooks: Receiver;
    /** Ends all processes with SIGTERM. Resolves with how they ended. */
    stop(): Promise<string[]>;
    log(name: string): Promise<string>;
    /** The URL of every module that a process had loaded when it ended, from V8's coverage. */
    loaded(name: string): Promise<string[]>;
  }

  /** Starts processes, each with its settings: `api`, `worker` for all pools, or a worker named after its pool. */
  async function start(settingsOf: Record<string, Record<string, string>>, webhookPath = ''): Promise<Running> {
    const webhooks = await receive();
    const PORT = String(await freePort());
    const own = await fs.mkdtemp(path.join(folder.path, 'run-'));
    const ofRun = Object.entries(settingsOf).map(([name, settings]) =>
      serviceProcess({
        name,
        script: name === 'api' ? 'api/main' : 'workers/main',
        args: ['api', 'worker'].includes(name) ? [] : [name],
        env: {
          NODE_V8_COVERAGE: path.join(own, `${name}-loaded`),
          ...testSettings({ PORT, SIMULATION_SPEED: '50', LOG_LEVEL: 'warn', WEBHOOK_LOCAL_TARGETS: webhooks.origin }),
          ...settings,
        },
        output: { logDir: own },
      }),
    );
    processes.push(...ofRun);
    await Promise.all(ofRun.map((each) => each.start()));
    const url = `http://127.0.0.1:${PORT}`;
    const { _id: accountId } = await accountOf('CANARY-mail@rides.example');
    const webhookUrl = webhooks.url + webhookPath;
    const config = { ...ctx.config, webhookLocalTargets: [webhooks.origin] };
    const key = await createKey(config, { accountId, name: 'CANARY-key-name', mode: 'test', webhookUrl });
    return {
      url,
      partner: { ...key, ...clientOf(url, key.key) },
      webhooks,
      stop: async () => (await Promise.all(ofRun.map((each) => each.stop()))).map(({ how }) => how),
      log: (name) => fs.readFile(path.join(own, `${name}.log`), 'utf8'),
      async loaded(name) {
        const files = await fs.readdir(path.join(own, `${name}-loaded`));
        const texts = files.map((file) => fs.readFile(path.join(own, `${name}-loaded`, file), 'utf8'));
        return (await Promise.all(texts)).flatMap((text) =>
          JSON.parse(text).result.map(({ url }: { url: string }) => url),
        );
      },
    };
  }

  const isOpenTelemetry = (url: string) => /node_modules\/(@opentelemetry|bullmq-otel)\/|open-telemetry/.test(url);

  it("a request, its jobs and deliveries belong to the client's trace, which contains no secret", async () => {
    const collector = await receive();
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.origin}/` };
    const each = { api: settings, simulator: settings, webhooks: settings };
    const running = await start(each, '/CANARY-path?token=CANARY-query');
    const { partner, url } = running;
    const [traceId, clientsSpan, requestId] = [hex(16), hex(8), 'given-by-the-partner'];
    const headers = {
      traceparent: `00-${traceId}-${clientsSpan}-00`,
      tracestate: 'vendor=CANARY-state',
      baggage: 'name=CANARY-baggage',
      'X-Request-Id': requestId,
      'User-Agent': 'CANARY-agent',
      'Idempotency-Key': 'CANARY-idempotency',
    };
    const ride = {
      pickup: { lat: 40.758, lng: -73.9855, address: 'CANARY-pickup' },
      passenger: { name: 'CANARY-passenger', phone: '+12025550199' },
      notes: 'CANARY-notes',
      reference: 'CANARY-reference',
      metadata: { bed: 'CANARY-metadata' },
    };
    const { body } = await partner.createRide(ride, headers);
    const { rideId, trackUrl } = body;
    const token = trackUrl.split('/').at(-1);
    await fetch(`${url}/track/${token}`);
    await fetch(`${url}/healthz`);
    await partner.get('/rides/CANARY-id?x=CANARY-query');
    await fetch(`${url}/v1/rides`, { headers: { Authorization: 'Bearer CANARY-key', Cookie: 'session=CANARY' } });
    await running.webhooks.received(5);
    expect(await running.stop()).to.deep.equal(['code 0', 'code 0', 'code 0']);

    const spans = spansIn(collector.receipts);
    const inTrace = spans.filter((span) => span.traceId === traceId);
    const [request] = inTrace.filter(({ kind }) => kind === 'server');
    expect(request).to.deep.include({ service: 'rides-api', name: 'POST /v1/rides', parentSpanId: clientsSpan });
    expect(request?.attributes).to.deep.equal({
      'http.request.method': 'POST',
      'http.route': '/v1/rides',
      'http.response.status_code': 201,
      requestId,
      rideId,
      keyId: partner.keyId,
    });

    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const pathOf = (span?: CollectedSpan): string[] =>
      span ? [...pathOf(byId.get(span.parentSpanId ?? '')), `${span.service}: ${span.name}`] : [];
    const deliveries = spans.filter(({ kind, attributes }) => kind === 'client' && attributes.rideId === rideId);
    expect(deliveries.map(({ attributes }) => attributes.seq)).to.have.members([1, 2, 3, 4, 5]);
    for (const delivery of deliveries) {
      expect(delivery).to.include({ service: 'rides-webhooks', traceId, hasFailed: false });
      expect(delivery.attributes).to.include({
        requestId,
        keyId: partner.keyId,
        outcome: 'delivered',
        'http.response.status_code': 200,
      });
      expect(delivery.attributes.durationMs).to.be.a('number');
      expect(pathOf(delivery)[0]).to.equal('rides-api: POST /v1/rides');
    }
    expect(pathOf(deliveries.find(({ attributes }) => attributes.seq === 1))).to.deep.equal([
      'rides-api: POST /v1/rides',
      'rides-api: add simulator',
      'rides-simulator: process simulator',
      'rides-simulator: add webhooks',
      'rides-webhooks: process webhooks',
      'rides-webhooks: deliver offer.received',
    ]);
    const steps = inTrace.filter(({ name }) => name === 'process simulator');
    expect(steps).to.have.length(5);
    for (const { attributes } of steps) expect(attributes).to.include({ requestId, rideId, outcome: 'done' });

    const names = new Set(spans.filter(({ kind }) => kind === 'server').map(({ name }) => name));
    expect([...names]).to.have.members([
      'POST /v1/rides',
      'GET /track/:token',
      'GET /v1/rides/:rideId',
      'GET /v1/rides',
    ]);
    const upkeep = spans.filter(({ kind }) => kind === 'internal');
    expect(upkeep).to.deep.equal([]);

    const all = collector.receipts.map(({ raw }) => raw).join('');
    const secrets = [partner.key, partner.signingSecret, token, '+12025550199', running.webhooks.origin, '127.0.0.1'];
    for (const secret of ['CANARY', ...secrets]) expect(all).not.to.include(secret);
    for (const name of Object.keys(each)) {
      expect((await running.loaded(name)).filter(isOpenTelemetry), name).not.to.deep.equal([]);
    }
  });

  it('traces are off without a collector: no process loads a module of OpenTelemetry', async () => {
    const running = await start({ api: { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, worker: { OTEL_TRACES_SAMPLER_ARG: '1' } });
    const { body } = await running.partner.createRide({}, { traceparent: `00-${hex(16)}-${hex(8)}-01` });
    expect(body.rideId).to.be.a('string');
    await running.webhooks.received(5);
    expect(await running.stop()).to.deep.equal(['code 0', 'code 0']);
    for (const name of ['api', 'worker']) {
      const loaded = await running.loaded(name);
      expect(
        loaded.filter((module) => module.includes('/bullmq/')),
        name,
      ).not.to.deep.equal([]);
      expect(loaded.filter(isOpenTelemetry), name).to.deep.equal([]);
    }
  });

  it('traces delay neither requests nor a stop while the collector hangs or is down, and log one warning', async () => {
    const hanging = await receive({ answer: () => {} });
    const away = {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '1',
    };
    const hangs = { OTEL_EXPORTER_OTLP_ENDPOINT: hanging.origin, OTEL_EXPORTER_OTLP_TIMEOUT: '3600000' };
    const running = await start({ api: away, worker: hangs });
    // More than the 512 spans that a process collects before it sends them.
    for (let sent = 0; sent < 600; sent += 100) {
      await Promise.all(Array.from({ length: 100 }, () => fetch(`${running.url}/v1`)));
    }
    expect((await running.partner.createRide()).status).to.equal(201);
    await running.webhooks.received(5);
    expect(await running.stop()).to.deep.equal(['code 0', 'code 0']);
    const warnings = (await running.log('api')).split('\n').filter((line) => line.includes('traces are dropped'));
    expect(warnings).to.have.length(1);
    // A stop that waited for the collector would exceed the grace period.
    expect(await running.log('worker')).not.to.match(/grace period over|traces are dropped/);
  });
});
