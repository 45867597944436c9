import { expect } from 'chai';
import { listKeys, revokeKey } from '../../../shared/keys/manage-keys.ts';
import { newFormId, signedIn, type Visitor } from '../../support/dashboard.ts';
import { formIn } from '../../support/pages.ts';
import { testConfig, useTestApi } from '../../support/service.ts';

describe('the dashboard: limit of active keys per account', () => {
  const api = useTestApi({ MAX_KEYS_PER_ACCOUNT: '3' });
  let visitor: Visitor;

  beforeEach(async () => {
    visitor = await signedIn(api);
  });

  const owner = () => ({ accountId: visitor.account._id });
  const create = (fields: Record<string, string> = {}) =>
    visitor.post('/dashboard/keys', { name: 'Front desk', mode: 'test', ...fields });
  const textOf = (html: string) => /data-testid="new-key">([^<]+)</.exec(html)?.[1];
  const activeKeys = async () => (await listKeys(owner())).filter(({ revokedAt }) => !revokedAt);

  it('an account may have 20 active keys by default', () => expect(testConfig().maxKeysPerAccount).to.equal(20));

  it('concurrent creations do not exceed the limit of active keys', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => create({ name: `key ${index}` })));
    const [made, refused] = [200, 422].map((status) => answers.filter((answer) => answer.status === status));
    expect([made?.length, refused?.length]).to.deep.equal([3, 9]);
    expect(await activeKeys()).to.have.length(3);
    for (const { html } of refused ?? []) {
      expect(html).to.match(/<title>Error: /);
      expect(html).to.include('This account has 3 active keys, the most it can have.');
      expect(html).not.to.include('new-key');
    }
  });

  it('keys from the command line count as active keys, but revoked keys do not', async () => {
    const first = await visitor.newKey();
    for (const name of ['one', 'two']) expect((await create({ name })).status).to.equal(200);
    expect((await create({ name: 'three' })).status).to.equal(422);
    expect(formIn((await visitor.get('/dashboard/keys/new')).html, '/dashboard/keys')).to.equal(undefined);
    await revokeKey(first.keyId, owner());
    const answers = await Promise.all(['three', 'four', 'five'].map((name) => create({ name })));
    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 422, 422]);
    expect(await activeKeys()).to.have.length(3);
    const [oldest] = await activeKeys();
    await revokeKey(oldest?._id ?? '', owner());
    expect((await create({ name: 'six' })).status).to.equal(200);
  });

  it('a repeated form whose key exists is not refused at the limit of active keys', async () => {
    const formId = newFormId();
    const first = await create({ formId });
    for (const name of ['two', 'three']) await create({ name });
    expect(textOf((await create({ formId })).html)).to.equal(textOf(first.html));
  });

  it('the limit of active keys applies neither to the operator nor to other accounts', async () => {
    for (let made = 0; made < 5; made += 1) await visitor.newKey();
    expect(await activeKeys()).to.have.length(5);
    expect((await create()).status).to.equal(422);
    visitor = await signedIn(api);
    expect((await create()).status).to.equal(200);
  });
});
