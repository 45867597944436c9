import { expect } from 'chai';
import { createKey } from '../../shared/keys/manage-keys.ts';
import { signedIn } from '../support/dashboard.ts';
import { useTestApi } from '../support/service.ts';

describe('GET /webhook-sources', () => {
  const api = useTestApi({ EGRESS_ADDRESSES: '203.0.113.10, 198.51.100.0/24,2001:db8::/64' });
  const withoutSetting = useTestApi();

  it('test and live keys get the addresses and ranges of EGRESS_ADDRESSES', async () => {
    for (const mode of ['test', 'live'] as const) {
      const { status, body } = await (await api.partner(mode)).get('/webhook-sources');
      expect(status).to.equal(200);
      expect(body).to.deep.equal({ addresses: ['203.0.113.10', '198.51.100.0/24', '2001:db8::/64'] });
    }
  });

  it("a key's page shows the addresses and ranges, and nothing about them without EGRESS_ADDRESSES", async () => {
    for (const [service, isShown] of [
      [api, true],
      [withoutSetting, false],
    ] as const) {
      const visitor = await signedIn(service);
      const { keyId } = await createKey(service.ctx.config, {
        accountId: visitor.account._id,
        name: 'desk',
        mode: 'live',
      });
      const { html } = await visitor.get(`/dashboard/keys/${keyId}`);
      expect(html.includes('203.0.113.10, 198.51.100.0/24, 2001:db8::/64')).to.equal(isShown);
      expect(html.includes('Events come from')).to.equal(isShown);
    }
  });

  it('the list of webhook sources is empty without EGRESS_ADDRESSES', async () => {
    const { status, body } = await (await withoutSetting.partner()).get('/webhook-sources');
    expect(status).to.equal(200);
    expect(body).to.deep.equal({ addresses: [] });
  });
});
