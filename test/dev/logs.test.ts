import { expect } from 'chai';
import { createLogView } from '../../dev/stack/logs.ts';
import { overview } from '../../dev/stack/stack-overview.ts';
import { poolNames } from '../../shared/base/queues.ts';

const rideId = 'ride_0VbdXpxmecg93r1rJAk0axNy';
const keyId = 'key_zbDMaMU87bH2NK';
let second = 0;

const entry = (msg: string, fields: object) =>
  JSON.stringify({ level: 30, time: new Date(2026, 0, 1, 12, 0, second++).toISOString(), msg, ...fields });
const request = (fields: object) => entry('request', { method: 'GET', status: 200, durationMs: 5, keyId, ...fields });
const delivery = (fields: object) =>
  entry('delivery', { rideId, keyId, seq: 2, event: 'ride.status', durationMs: 12, ...fields });

/** The printed text of these lines, without the time. */
function shown(...lines: string[]): string[] {
  const printed: string[] = [];
  const view = createLogView((line) => printed.push(line));
  for (const line of lines) view.line('api', line);
  view.end();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with this character.
  return printed.map((line) => line.replace(/\x1b\[\d+m/g, '').replace(/^\d\d:\d\d:\d\d {2}/, ''));
}

describe('the log view of npm run dev', () => {
  it('each request, step and delivery is a short line with the last six characters of the ride id', () => {
    const lines = shown(
      request({ method: 'POST', route: '/v1/rides', status: 201 }),
      entry('ride created', { rideId, mode: 'test' }),
      entry('ride changed', { rideId, status: 'bidding', event: 'offer.received' }),
      entry('ride changed', { rideId, status: 'bidding', fare: 27 }),
      entry('ride changed', { rideId, status: 'bidding', withdrawn: 1 }),
      // A change by PATCH, a message, a decline, an opening, a round of dispatch or a route.
      entry('ride changed', { rideId, status: 'bidding' }),
      delivery({ outcome: 'delivered', httpStatus: 204 }),
      entry('ride changed', { rideId, status: 'cancelled', event: 'ride.status', cancelledBy: 'partner' }),
      entry('manual attempt', {
        kind: 'redelivery',
        rideId,
        seq: 2,
        outcome: 'delivered',
        httpStatus: 204,
        durationMs: 12,
      }),
      entry('manual attempt', { kind: 'test', outcome: 'failed', reason: 'status', httpStatus: 500, durationMs: 12 }),
    );
    expect(lines).to.deep.equal([
      '        POST /v1/rides                201  5 ms',
      'k0axNy  bidding                       test ride, default',
      'k0axNy  offer received',
      'k0axNy  fare raised to 27.00',
      'k0axNy  offer withdrawn',
      'k0axNy  event 2 ride.status           delivered 204  12 ms',
      'k0axNy  cancelled by partner',
      'k0axNy  event 2 again                 delivered 204  12 ms',
      '        test event                    failed: answered 500',
    ]);
  });

  const failures: [fields: object, text: string][] = [
    [{ outcome: 'failed', reason: 'ECONNREFUSED' }, 'failed: ECONNREFUSED'],
    [{ outcome: 'failed', reason: 'ENOTFOUND' }, 'failed: ENOTFOUND'],
    [{ outcome: 'failed', reason: 'certificate_expired' }, 'failed: TLS certificate expired'],
    [{ outcome: 'failed', reason: 'status', httpStatus: 500 }, 'failed: answered 500'],
    [{ outcome: 'failed', reason: 'redirect', httpStatus: 302 }, 'failed: redirected with 302'],
    [{ outcome: 'timeout', durationMs: 8_001 }, 'timed out after 8.0 s'],
    [{ outcome: 'blocked', reason: 'private_address' }, 'blocked: private_address'],
    [{ outcome: 'no_url' }, 'no URL'],
  ];
  for (const [fields, text] of failures) {
    it(`the log view prints the reason of a failed delivery: ${text}`, () => {
      const [line = ''] = shown(delivery(fields));
      expect(line.slice('k0axNy  event 2 ride.status           '.length)).to.equal(text);
    });
  }

  it('the log view names copies of events for further endpoints, and a withdrawal without a number', () => {
    const copy = { kind: 'event', outcome: 'delivered', httpStatus: 204 };
    const lines = shown(delivery(copy), delivery({ ...copy, event: 'offer.withdrawn', seq: undefined }));
    expect(lines).to.deep.equal([
      'k0axNy  event 2 ride.status, copy     delivered 204  12 ms',
      'k0axNy  event offer.withdrawn, copy   delivered 204  12 ms',
    ]);
  });

  it('the log view prints where a mail can be read, or why it was not sent', () => {
    const lines = shown(
      entry('mail', { mailId: 'mail_1', outcome: 'kept' }),
      entry('message', { messageId: 'ride_1:found:passenger', kind: 'found', outcome: 'kept' }),
      entry('message', { messageId: 'ride_1:found:passenger', kind: 'found', outcome: 'expired' }),
      entry('mail', { mailId: 'mail_1', outcome: 'sent' }),
      entry('mail', { mailId: 'mail_1', outcome: 'failed', reason: 'EENVELOPE 550' }),
    );
    expect(lines.map((line) => line.replace(/ {2,}/g, ' ').trim())).to.deep.equal([
      'mail read it at /dev/mail',
      'text message: found read it at /dev/messages',
      'text message: found not sent: expired',
      'mail sent',
      'mail not sent: EENVELOPE 550',
    ]);
  });

  it('the log view prints once per key how to set a webhook URL', () => {
    const lines = shown(delivery({ outcome: 'no_url' }), delivery({ outcome: 'no_url' }));
    const hints = lines.filter((line) => line.includes(`npm run -s keys -- set-webhook ${keyId} URL`));
    expect(hints).to.have.lengthOf(1);
  });

  it('the log view prints repeated reads once, and the path of a request without a route', () => {
    const read = () => request({ route: '/v1/rides/:rideId', rideId });
    const unknown = () => request({ route: 'none', path: '/v1/\u009b2Jz', status: 404 });
    expect(shown(read(), read(), unknown(), read())).to.deep.equal([
      'k0axNy  GET /v1/rides/:id             200  5 ms',
      '        GET /v1/?2Jz                  404  5 ms',
    ]);
  });

  it('the log view sorts the lines of several processes by time', () => {
    const first = entry('ride changed', { rideId, status: 'completed', event: 'ride.status' });
    const then = delivery({ outcome: 'delivered', httpStatus: 204 });
    expect(shown(then, first)[0]).to.equal('k0axNy  completed');
  });

  it('the log view prints text that is not a log entry unchanged', () => {
    expect(shown('api: Setting PORT is wrong')[0]?.trim()).to.equal('api: api: Setting PORT is wrong');
  });

  it('the log view fits in 80 columns, like the overview at the start', () => {
    const key = { keyId, key: `svc_test_${'x'.repeat(38)}`, signingSecret: `whsec_${'x'.repeat(32)}` };
    const env = { MONGO_URL: '', REDIS_URL: '', SECRETS_KEY: '', SHUTDOWN_GRACE_MS: '' };
    const servers = { mongo: '', redis: 'redis.example:6379 (REDIS_URL)' };
    const metricsPorts = Object.fromEntries(
      poolNames.flatMap((pool) => [pool, `${pool}-20`]).map((name) => [name, 31_999]),
    );
    const url = 'http://127.0.0.1:44100';
    const start = overview({ url, port: 44100, env, servers, metricsPorts, key, state: 'is ready' });
    expect(start.join('\n')).to.include(key.key).and.include(key.signingSecret).and.include(servers.redis);
    const webhookUrl = 'http://127.0.0.1:4000/events';
    const later = overview({ url, port: 44100, env, servers, metricsPorts, key: { ...key, webhookUrl }, state: '' });
    expect(later).to.include(`  Key id          ${keyId}`);
    const lines = failures.flatMap(([fields]) => shown(delivery(fields)).map((line) => line.padStart(10)));
    for (const line of [...start.join('\n').split('\n'), ...lines]) expect(line.length, line).to.be.at.most(80);
  });
});
