import { appRoutes } from '@bull-board/api/dist/routes.js';
import { expect } from 'chai';
import { operatorsCookie } from '../../../api/ops/operators-pages.tsx';
import type { RequestContext } from '../../../api/part.ts';
import { cookieOf, opsToken, startTestOperators } from '../../support/operators.ts';
import { newRide } from '../../support/rides.ts';
import { useStarted } from '../../support/use-started.ts';

describe('queue board at the operators’ port', () => {
  const operators = useStarted(() => startTestOperators({ OPS_TOKEN: opsToken }));
  let cookie: string;
  before(async () => {
    cookie = cookieOf(await operators.signIn(opsToken));
  });

  const board = (path = '', init: RequestInit = {}) =>
    operators.ask(`/ops/queues${path}`, { ...init, headers: { cookie, ...init.headers } });

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

  it('every route of the queue board answers 404 without the cookie', async () => {
    const pages = [{ method: 'GET', path: '' }, { method: 'GET', path: '/queue/webhooks' }, ...routes];
    for (const { method, path } of pages) {
      const { status } = await operators.ask(`/ops/queues${path}`, { method });
      expect(status, `${method} ${path}`).to.equal(404);
    }
  });

  it('a wrong token gets no cookie, and the queue board answers 404 to a forged, changed or expired one', async () => {
    const wrong = await operators.signIn(`${opsToken}x`);
    expect(wrong.status).to.equal(403);
    expect(wrong.headers.get('set-cookie')).to.equal(null);
    const [name, value = ''] = cookie.split('=');
    const [until, proof] = value.split('.');
    const old = { value: '' };
    const write = { cookies: { set: (_name: string, given: string) => Object.assign(old, { value: given }) } };
    operatorsCookie(opsToken, () => Date.now() - 13 * 3_600_000).write(write as unknown as RequestContext);
    for (const forged of ['', opsToken, `${Number(until) + 1}.${proof}`, `${until}.`, old.value]) {
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
      for (const path of ['/ops', '/ops/', '/ops/queues', '/ops/queues/api/queues', '/assets/styles.css']) {
        expect((await without.ask(path)).status, path).to.equal(404);
      }
      expect((await without.signIn('')).status).to.equal(404);
      expect((await without.ask('/healthz')).status).to.equal(200);
    } finally {
      await without.close();
    }
  });
});
