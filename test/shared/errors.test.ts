import { expect } from 'chai';
import { AppError, codeOfStatus, describeError, errorCodes, publicErrorOf } from '../../shared/base/errors.ts';

describe('errors', () => {
  it('have the status and the words of their code', () => {
    const { status, message, headers, name } = new AppError('ride_not_found');
    expect({ status, message, headers, name }).to.deep.equal({
      status: 404,
      message: 'Ride not found',
      headers: { 'X-Service-Error': 'ride_not_found' },
      name: 'AppError',
    });
  });

  it('take the statuses of the contract', () => {
    const statusOf = (code: ConstructorParameters<typeof AppError>[0]) => new AppError(code).status;
    expect(statusOf('invalid_request')).to.equal(400);
    expect(statusOf('unauthorized')).to.equal(401);
    expect(statusOf('offer_not_found')).to.equal(404);
    expect(statusOf('ride_ended')).to.equal(409);
    expect(statusOf('rate_limited')).to.equal(429);
    expect(statusOf('internal')).to.equal(500);
  });

  it('take other words and headers where they are given', () => {
    const { message, headers } = new AppError('invalid_request', { message: 'fare is required', headers: { A: 'b' } });
    expect({ message, headers }).to.deep.equal({
      message: 'fare is required',
      headers: { A: 'b', 'X-Service-Error': 'invalid_request' },
    });
  });

  it('have one code for every 401, and one for an unconfirmed write and an outage, whose texts are the same', () => {
    expect(errorCodes.filter((code) => publicErrorOf(code).status === 401)).to.deep.equal(['unauthorized']);
    expect(new AppError('unconfirmed').headers['X-Service-Error']).to.equal('unavailable');
    expect(publicErrorOf('unconfirmed')).to.deep.equal(publicErrorOf('unavailable'));
  });

  it('name the scheme of authentication with every 401', () => {
    expect(new AppError('unauthorized').headers).to.include({ 'WWW-Authenticate': 'Bearer' });
    expect(new AppError('ride_not_found').headers).not.to.have.property('WWW-Authenticate');
  });

  it('have a code for every status that an answer can have without an error behind it', () => {
    for (const status of [400, 401, 403, 404, 405, 409, 413, 418, 422, 429, 500, 502, 503, 504]) {
      const code = codeOfStatus(status);
      if (code !== 'invalid_request' && code !== 'internal') expect(publicErrorOf(code).status).to.equal(status);
      expect(publicErrorOf(code).status >= 500).to.equal(status >= 500);
    }
  });

  it('are logged by name, code and place, never by their message, which may quote a value', () => {
    const error = Object.assign(new TypeError('E11000 sEcReT\n    at sEcReT'), { code: 11_000 });
    const described = describeError(error);
    expect(described).to.include({ name: 'TypeError', code: 11_000 });
    expect(described.at).to.include('errors.test.ts');
    expect(JSON.stringify(described)).not.to.include('sEcReT');
  });

  it('are logged with the kind of their cause, and not with its message', () => {
    const described = describeError(new Error('sEcReT', { cause: new RangeError('sEcReT') }));
    expect(described.name).to.equal('Error <- RangeError');
    expect(JSON.stringify(described)).not.to.include('sEcReT');
  });

  for (const thrown of ['sEcReT', { message: 'sEcReT' }, null, undefined, 5]) {
    it(`are logged by type where ${JSON.stringify(thrown)} was thrown, which is no error`, () => {
      expect(JSON.stringify(describeError(thrown))).not.to.include('sEcReT');
    });
  }
});
