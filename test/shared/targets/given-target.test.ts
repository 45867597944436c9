import { expect } from 'chai';
import { checkGivenTarget } from '../../../shared/targets/given-target.ts';
import { checkTargetUrl } from '../../../shared/targets/target.ts';

describe('checkGivenTarget', () => {
  const development = { environment: 'development', webhookLocalTargets: ['http://127.0.0.1:4000'] } as const;
  const production = { environment: 'production', webhookLocalTargets: [] } as const;

  for (const url of [
    'http://127.0.0.1:4001/hook',
    'http://partner.example/',
    'https://localhost/',
    'https://10.0.0.1/',
  ]) {
    it(`${url} is refused, and in development the error explains how to allow it with WEBHOOK_LOCAL_TARGETS`, () => {
      const rule = checkTargetUrl(url, []);
      expect(checkGivenTarget(development, url)).to.equal(
        `${rule}; for a local receiver, start this stack again with: WEBHOOK_LOCAL_TARGETS=${new URL(url).origin} npm run dev`,
      );
      expect(checkGivenTarget({ ...development, port: 4870 }, url)).to.include(' PORT=4870 WEBHOOK_LOCAL_TARGETS=');
      expect(checkGivenTarget(production, url)).to.equal(rule);
    });
  }

  for (const url of [
    ...['nonsense', '', 'ftp://x/', 'http://user@127.0.0.1/', 'http://127.0.0.1:25/', 'mailto:a@b.example'],
    ...['httpsx://localhost/', 'xhttp://localhost/'],
  ]) {
    it(`checkGivenTarget does not mention WEBHOOK_LOCAL_TARGETS for "${url}", which the setting cannot allow`, () => {
      expect(checkGivenTarget(development, url)).to.equal(checkTargetUrl(url, []));
    });
  }

  it('checkGivenTarget allows a URL whose origin the setting lists', () => {
    expect(checkGivenTarget(development, 'http://127.0.0.1:4000/hook')).to.equal(null);
  });
});
