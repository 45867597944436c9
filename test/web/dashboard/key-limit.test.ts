import { expect } from 'chai';
import { revokeKey } from '../../../shared/keys/manage-keys.ts';
import { newFormId, signedIn } from '../../support/dashboard.ts';
import { useKeyPages } from '../../support/key-pages.ts';
import { formIn } from '../../support/pages.ts';
import { testConfig } from '../../support/service.ts';

describe('the dashboard: limit of active keys per account', () => {
  const { api, visitor, owner, textOf, create, activeKeys } = useKeyPages({ MAX_KEYS_PER_ACCOUNT: '3' });

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
    expect(textOf((await create({ formId })).html, 'new-key')).to.equal(textOf(first.html, 'new-key'));
  });

  it('the limit of active keys applies neither to the operator nor to other accounts', async () => {
    for (let made = 0; made < 5; made += 1) await visitor.newKey();
    expect(await activeKeys()).to.have.length(5);
    expect((await create()).status).to.equal(422);
    const other = await signedIn(api);
    expect((await other.post('/dashboard/keys', { name: 'Front desk', mode: 'test' })).status).to.equal(200);
  });
});
