import { hostname } from 'node:os';
import { appRoutes } from '@bull-board/api/dist/routes.js';
import { expect } from 'chai';
import { eventId, withdrawnEventId } from '../../../shared/base/ids.ts';
import { connectWorkerRedis } from '../../../shared/base/redis/redis.ts';
import { type MessageRow, messages } from '../../../shared/messages/message-row.ts';
import { readQueues } from '../../../shared/process/ops/queue-states.ts';
import { applyAction } from '../../../shared/rides/apply-action.ts';
import { enqueueAttempt } from '../../../shared/webhooks/attempt-jobs.ts';
import { type AttemptRecord, waitingUntil } from '../../../shared/webhooks/attempts.ts';
import { operatorsProof } from '../../../web/operators/operators-access.ts';
import { startPool } from '../../../workers/pools.ts';
import { storedAttempts } from '../../support/attempts.ts';
import { endedRide } from '../../support/ended-rides.ts';
import { cookieOf, opsToken, startTestOperators } from '../../support/operators.ts';
import { hrefsIn, textOf } from '../../support/pages.ts';
import { newRide, rideIn } from '../../support/rides.ts';
import { storedRide } from '../../support/stored-rides.ts';
import { until } from '../../support/until.ts';
import { useStarted } from '../../support/use-started.ts';

describe('queue board at the operators’ port', () => {
  const operators = useStarted(() => startTestOperators({ OPS_TOKEN: opsToken }));
  let cookie: string;
  before(async () => {
    cookie = cookieOf(await operators.signIn(opsToken));
  });

  const board = (path = '', init: RequestInit = {}) =>
    operators.ask(`/ops/queues${path}`, { ...init, headers: { cookie, ...init.headers } });

  const findRide = async (id: string) => {
    const answer = await operators.ask(`/ops/rides?id=${encodeURIComponent(id)}`, { headers: { cookie } });
    const html = await answer.text();
    return { status: answer.status, html, text: textOf(html) };
  };

  /** Each route of the board, with values for its parameters. */
  const routes = appRoutes.api.flatMap(({ method, route }) =>
    [method].flat().flatMap((each) =>
      [route].flat().map((path) => ({
        method: each.toUpperCase(),
        path: path.replace(':queueName', 'webhooks').replace(/:\w+/g, '1'),
      })),
    ),
  );

  it('OPS_TOKEN is exchanged for an HttpOnly, SameSite=Strict cookie, which opens the queue board', async () => {
    const answer = await operators.signIn(opsToken);
    expect(answer.status).to.equal(303);
    expect(answer.headers.get('location')).to.equal('/ops/queues');
    const set = answer.headers.get('set-cookie') ?? '';
    expect(set)
      .to.match(/httponly/i)
      .and.to.match(/samesite=strict/i)
      .and.to.match(/path=\/ops/i);
    expect(set).not.to.include(opsToken);
    expect((await board()).status).to.equal(200);
  });

  it('every operators’ page has our header, which leads to the queues and to the search for a ride', async () => {
    for (const path of ['/ops/queues', '/ops/queues/queue/webhooks', '/ops/rides']) {
      const html = await (await operators.ask(path, { headers: { cookie } })).text();
      expect(hrefsIn(html), path).to.include.members(['/ops/queues', '/ops/rides']);
      expect(textOf(html), path).to.include('Ride Partner');
    }
  });

  it('a ride is found by its id, or by the id of its event, with its jobs, and without personal data', async () => {
    const { rideId } = await rideIn(operators.ctx, 'bidding', {
      reference: 'Room 12',
      passenger: { name: 'Ada Lovelace', phone: '+12025550111' },
      pickup: { lat: 40.7128, lng: -74.006, address: 'Ward 7' },
    });
    const other = await newRide(operators.ctx);
    for (const id of [rideId, ` ${rideId} `, eventId(rideId, 1), withdrawnEventId(rideId, 'offer_1a2B')]) {
      const { status, text } = await findRide(id);
      expect(status, id).to.equal(200);
      const words = ['bidding', 'expire', 'dispatch', 'delivery of event 1', 'waiting'];
      for (const word of words) expect(text).to.include(word);
      for (const secret of ['Lovelace', '+1202555', 'Ward 7', 'Room 12', 'Dana', other]) {
        expect(text, secret).not.to.include(secret);
      }
    }
    const jobs = hrefsIn((await findRide(rideId)).html).filter((href) => href.startsWith('/ops/queues/queue/'));
    expect(jobs.map((href) => href.split('/')[4])).to.have.members(['dispatch', 'webhooks']);
  });

  it('a ride shows the copies of its events for further endpoints, with the jobs of those that wait', async () => {
    const { ctx } = operators;
    const rideId = await newRide(ctx);
    const { accountId, keyId } = await storedRide(rideId);
    const [copy] = await storedAttempts([
      { rideId, accountId, keyId, endpointId: 'endpoint_1', ...waitingUntil(new Date(ctx.now() + 60_000)) },
    ]);
    await enqueueAttempt(ctx, copy as AttemptRecord);
    const { text } = await findRide(rideId);
    expect(text).to.include('copy to endpoint_1').and.to.include('attempt to endpoint_1');
  });

  it('a ride shows its finished jobs while the queue keeps them, and the process that ran each', async () => {
    const { ctx } = operators;
    const rideId = await newRide(ctx);
    await applyAction(ctx, rideId, { action: 'cancel', by: 'partner' }, 'anyone');
    const connection = connectWorkerRedis(ctx.config.secrets.redisUrl, ctx.log);
    const worker = startPool(ctx, connection, 'dispatch');
    try {
      await until(async () => (await findRide(rideId)).text.includes('completed'));
      const name = `${hostname()}:${process.pid}`;
      expect((await findRide(rideId)).text).to.include(name);
      const { workers } = (await (await board('/api/queues/dispatch/workers')).json()) as {
        workers: { name: string }[];
      };
      expect(workers.map((each) => each.name)).to.deep.equal([name]);
      const { queues } = await readQueues(ctx);
      expect(queues?.find(({ pool }) => pool === 'dispatch')?.processes).to.deep.equal([name]);
    } finally {
      await worker.close();
      connection.disconnect();
    }
  });

  it('a ride without jobs says whether something is pending, also if that is only a text message', async () => {
    const { _id: rideId, accountId } = await endedRide(operators.ctx, 1);
    expect((await findRide(rideId)).text).to.include('Nothing is pending');
    const _id = `${rideId}:cancelled:passenger`;
    const createdAt = new Date();
    const row: MessageRow = {
      _id,
      rideId,
      accountId,
      kind: 'cancelled',
      person: 'passenger',
      state: 'waiting',
      createdAt,
    };
    await messages.insertOne(row);
    expect((await findRide(rideId)).text).to.include('The sweeper adds a missing job');
  });

  it('an unknown ride id is a 404 that says so, and any text is escaped', async () => {
    for (const id of ['ride_unknown', '"><script>alert(1)</script>', '$ne']) {
      const { status, text, html } = await findRide(id);
      expect(status).to.equal(404);
      expect(text).to.include('No ride has this id');
      expect(html).not.to.include('<script>alert');
    }
    expect((await findRide('')).status).to.equal(200);
    const answer = await operators.ask('/ops/rides', { method: 'POST', headers: { cookie } });
    expect([answer.status, answer.headers.get('allow')]).to.deep.equal([405, 'HEAD, GET']);
  });

  it('every route of the queue board and the search for a ride answer 404 without the cookie', async () => {
    expect((await operators.ask('/ops/rides?id=ride_x')).status).to.equal(404);
    const pages = [{ method: 'GET', path: '' }, { method: 'GET', path: '/queue/webhooks' }, ...routes];
    for (const { method, path } of pages) {
      const { status } = await operators.ask(`/ops/queues${path}`, { method });
      expect(status, `${method} ${path}`).to.equal(404);
    }
  });

  it('a browser without the cookie is sent from every page to the sign-in page, and cannot send anything', async () => {
    const headers = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    for (const path of ['/ops/queues', '/ops/queues/queue/webhooks', '/ops/rides?id=ride_x']) {
      const answer = await operators.ask(path, { headers });
      expect([answer.status, answer.headers.get('location')], path).to.deep.equal([303, '/ops']);
      expect((await operators.ask(path, { method: 'PUT', headers })).status, path).to.equal(404);
    }
  });

  it('a wrong token gets no cookie, and the queue board answers 404 to a forged, changed or expired one', async () => {
    const wrong = await operators.signIn(`${opsToken}x`);
    expect(wrong.status).to.equal(403);
    expect(wrong.headers.get('set-cookie')).to.equal(null);
    const [name, value = ''] = cookie.split('=');
    const [until, proof] = value.split('.');
    const old = operatorsProof(opsToken, () => Date.now() - 13 * 3_600_000).create();
    for (const forged of ['', opsToken, `${Number(until) + 1}.${proof}`, `${until}.`, old]) {
      const { status } = await operators.ask('/ops/queues', { headers: { cookie: `${name}=${forged}` } });
      expect(status, forged).to.equal(404);
    }
  });

  it('every changing route of the queue board answers 405', async () => {
    const changing = routes.filter(({ method }) => method !== 'GET');
    expect(changing.length).to.be.greaterThan(15);
    for (const { method, path } of changing) {
      const answer = await board(path, { method });
      expect(answer.status, `${method} ${path}`).to.equal(405);
      expect(answer.headers.get('allow')).to.equal('HEAD, GET');
    }
  });

  it('the queue board says that it is read-only, and loads nothing from other hosts', async () => {
    const page = await board();
    const html = await page.text();
    expect(html).to.include('Read-only: MongoDB decides what is pending');
    expect(html).not.to.match(/(href|src)="(https?:)?\/\//);
    expect(page.headers.get('content-security-policy')).to.include("default-src 'self'");
    expect(page.headers.get('cache-control')).to.equal('no-store');
  });

  it('the queue board serves its scripts and styles, and no other file', async () => {
    const html = await (await board()).text();
    const names = [...html.matchAll(/="(static\/[^"]+\.(?:js|css))"/g)].map(([, name]) => `/${name}`);
    expect(names.length).to.be.greaterThan(2);
    for (const name of names) {
      const answer = await board(name);
      const type = name.endsWith('.js') ? 'text/javascript' : 'text/css';
      expect([answer.status, answer.headers.get('content-type')?.split(';')[0]], name).to.deep.equal([200, type]);
    }
    for (const name of ['', '/', '/js', '/..%2Findex.ejs', '/%2E%2E%2Findex.ejs', '/js/unknown.js']) {
      expect((await board(`/static${name}`)).status, name).to.equal(404);
    }
  });

  it('the queue board shows the ride of a job, and no data of Redis', async () => {
    const rideId = await newRide(operators.ctx, { mode: 'test' });
    const answer = await board('/api/queues?activeQueue=simulator&status=latest');
    const text = await answer.text();
    expect(text).to.include(rideId);
    expect(text).not.to.include('passenger');
    expect((await board('/api/redis/stats')).status).to.equal(403);
  });

  it('the queue board and its sign-in answer 404 without the setting OPS_TOKEN', async () => {
    const without = await startTestOperators();
    try {
      const board = ['/ops/queues', '/ops/queues/api/queues', '/ops/rides'];
      for (const path of ['/ops', '/ops/', ...board, '/assets/styles.css', '/favicon.ico']) {
        expect((await without.ask(path)).status, path).to.equal(404);
      }
      expect((await without.signIn('')).status).to.equal(404);
      expect((await without.ask('/healthz')).status).to.equal(200);
    } finally {
      await without.close();
    }
  });
});
