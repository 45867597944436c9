import { expect } from 'chai';
import { AppError, codeOfStatus, describeError, errorCodes, publicErrorOf } from '../../shared/base/errors.ts';

describe('errors', () => {
  it('an error has the status and the message of its code', () => {
    const { status, message, headers, name } = new AppError('ride_not_found');
    expect({ status, message, headers, name }).to.deep.equal({
      status: 404,
      message: 'Ride not found',
      headers: { 'X-Service-Error': 'ride_not_found' },
      name: 'AppError',
    });
  });

  it('an error uses the given message and headers instead of the defaults', () => {
    const { message, headers } = new AppError('invalid_request', { message: 'fare is required', headers: { A: 'b' } });
    expect({ message, headers }).to.deep.equal({
      message: 'fare is required',
      headers: { A: 'b', 'X-Service-Error': 'invalid_request' },
    });
  });

  it('every 401 has one public code, and an unconfirmed write has the same code and text as an outage', () => {
    expect(errorCodes.filter((code) => publicErrorOf(code).status === 401)).to.deep.equal(['unauthorized']);
    expect(new AppError('unconfirmed').headers['X-Service-Error']).to.equal('unavailable');
    expect(publicErrorOf('unconfirmed')).to.deep.equal(publicErrorOf('unavailable'));
  });

  it('every status of a response that no AppError caused has a code', () => {
    for (const status of [400, 401, 403, 404, 405, 409, 413, 418, 422, 429, 500, 502, 503, 504]) {
      const code = codeOfStatus(status);
      if (code !== 'invalid_request' && code !== 'internal') expect(publicErrorOf(code).status).to.equal(status);
      expect(publicErrorOf(code).status >= 500).to.equal(status >= 500);
    }
  });

  it('an error is logged with name, code and stack, never with its message, which may quote a value', () => {
    const error = Object.assign(new TypeError('E11000 sEcReT\n    at sEcReT'), { code: 11_000 });
    const described = describeError(error);
    expect(described).to.include({ name: 'TypeError', code: 11_000 });
    expect(described.at).to.include('errors.test.ts');
    expect(JSON.stringify(described)).not.to.include('sEcReT');
  });

  it('an error is logged with the name of its cause, and without the message of the cause', () => {
    const described = describeError(new Error('sEcReT', { cause: new RangeError('sEcReT') }));
    expect(described.name).to.equal('Error <- RangeError');
    expect(JSON.stringify(described)).not.to.include('sEcReT');
  });

  for (const thrown of ['sEcReT', { message: 'sEcReT' }, null, undefined, 5]) {
    it(`if ${JSON.stringify(thrown)} is thrown instead of an Error, only its type is logged`, () => {
      expect(JSON.stringify(describeError(thrown))).not.to.include('sEcReT');
    });
  }
});
