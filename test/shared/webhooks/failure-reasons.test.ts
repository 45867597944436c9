import { expect } from 'chai';
import {
  type FailedDelivery,
  type FailureCode,
  failureReason,
  failureReasons,
} from '../../../shared/webhooks/failure-reasons.ts';

describe('failureReason', () => {
  const failed = (reason: string, httpStatus?: number): FailedDelivery => ({ outcome: 'failed', reason, httpStatus });
  const cases: [FailureCode, FailedDelivery][] = [
    ['dns', failed('ENOTFOUND')],
    ['dns', failed('ENODATA')],
    ['dns', failed('ESERVFAIL')],
    ['no_url', { outcome: 'no_url' }],
    ['blocked', { outcome: 'blocked', reason: 'private_address' }],
    ['blocked', { outcome: 'blocked', reason: 'target_url' }],
    ['refused', failed('ECONNREFUSED')],
    ['unreachable', failed('EHOSTUNREACH')],
    ['reset', failed('ECONNRESET')],
    ['reset', failed('EPIPE')],
    ['tls_name', failed('certificate_name')],
    ['tls_expired', failed('certificate_expired')],
    ['tls_other', failed('certificate')],
    ['tls_other', failed('tls')],
    ['tls_version', failed('tls_version')],
    ['tls_none', failed('not_tls')],
    ['client_certificate', failed('client_certificate')],
    ['http2', failed('http2')],
    ['timeout_dns', { outcome: 'timeout', reason: 'dns' }],
    ['timeout_connect', { outcome: 'timeout', reason: 'connect' }],
    ['timeout_tls', { outcome: 'timeout', reason: 'tls' }],
    ['timeout_answer', { outcome: 'timeout', reason: 'answer' }],
    ['timeout_tls', { outcome: 'timeout', phase: 'tls' }],
    ['timeout_answer', { outcome: 'timeout' }],
    ['timeout_connect', failed('ETIMEDOUT')],
    ['timeout_dns', failed('ETIMEOUT')],
    ['status_101', failed('status', 101)],
    ['status_304', failed('status', 304)],
    ['status_3xx', failed('redirect', 302)],
    ['status_4xx', failed('status', 404)],
    ['status_5xx', failed('status', 503)],
    ['bad_answer', failed('status', 999)],
    ['bad_answer', failed('not_http')],
    ['bad_answer', failed('answer_too_long')],
    ['secret', failed('signing_secret_damaged')],
    ['erased', failed('body_erased')],
    ['endpoint_off', failed('endpoint_off')],
    ['endpoint_deleted', failed('endpoint_deleted')],
    ['ours', failed('unrecordable')],
    ['ours', failed('EMFILE')],
    ['ours', failed('interrupted')],
    ['other', failed('something new')],
    ['other', { outcome: 'failed' }],
  ];
  for (const [code, delivery] of cases) {
    it(`failureReason explains ${JSON.stringify(delivery)} as ${code}`, () => {
      const [name, remedy] = failureReasons[code];
      expect(failureReason(delivery)).to.deep.equal({ code, name, remedy });
    });
  }

  it('failureReason returns null for delivered and pending events', () => {
    expect(failureReason({ outcome: 'delivered', httpStatus: 200 })).to.equal(null);
    expect(failureReason({ outcome: 'waiting' })).to.equal(null);
  });

  it('each failure code has a unique name and a remedy of one sentence', () => {
    const all = Object.values(failureReasons);
    for (const [, remedy] of all) expect(remedy).to.match(/^[A-Z][^.]*(1\.[123][^.]*)*\.$/);
    expect(new Set(all.map(([name]) => name)).size).to.equal(all.length);
    for (const code of Object.keys(failureReasons)) expect(cases.map(([covered]) => covered)).to.include(code);
  });
});
